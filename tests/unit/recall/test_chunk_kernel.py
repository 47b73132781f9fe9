"""M9, M10: one chunk answers many tasks of a recall at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from moirae.errors import MoiraeError
from moirae.model.build import call
from moirae.model.expr import Call, Col, Expr, Lit, Param
from moirae.model.query import Aggregate, Output, RecallDef
from moirae.model.schema import Type
from moirae.recall import chunk_kernel
from moirae.recall.chunk_index import IndexedChunk
from moirae.recall.chunk_kernel import Asked, answer_indexed, answer_slice, columns_needed, index_chunk, plan_recall
from moirae.recall.partials import Partial, finish
from moirae.recall.reducers import reduce_rows

AT, SERVER, BYTES = Col("at", Type.TIMESTAMP), Col("server", Type.STRING), Col("bytes", Type.INT)
E_SERVER, E_BYTES, E_AT = Param("server", Type.STRING), Param("bytes", Type.BIGINT), Param("at", Type.TIMESTAMP)
BY_SERVER, BY_BYTES = call("=", SERVER, E_SERVER), call("=", E_BYTES, BYTES)
ROWS = pa.table(
    {
        "at": pa.array([5, 1, 3, 2, 4], Type.TIMESTAMP.arrow),
        "server": ["a", "a", "b", None, "a"],
        "bytes": pa.array([10, 20, 30, 40, None], pa.int32()),
        "note": ["unused"] * 5,
    }
)


def recall(where: Expr | None) -> RecallDef:
    total = Aggregate("total", "sum", BYTES, Type.BIGINT)
    select = (Output("total", Col("total", Type.BIGINT)),)
    return RecallDef("r", "e", "s", None, 0, where, (), (total,), None, select)


def ask(lo: int = 0, hi: int = 10, **params: Any) -> Asked:
    return Asked("x", hi, params, lo, hi)


def totals(partials: list[Partial]) -> list[Any]:
    return [finish(partial).column("total")[0].as_py() for partial in partials]


def both(a: Expr, b: Expr) -> Expr:
    return call("and", a, b)


def test_equality_with_the_event_becomes_the_index() -> None:
    """M9: also where a promotion stands between the column and the parameter, and whichever side it is on."""
    plan = plan_recall(recall(both(both(BY_SERVER, BY_BYTES), call(">", BYTES, Lit(3, Type.INT)))))
    assert plan.keys == (SERVER, Call("cast", (BYTES,), Type.BIGINT))
    assert plan.wanted == (E_SERVER, E_BYTES)
    assert len(plan.rest) == 1


@pytest.mark.parametrize(
    "where",
    [
        None,
        call("<", BYTES, E_BYTES),
        call("=", SERVER, Lit("a", Type.STRING)),
        call("=", call("+", BYTES, E_BYTES), E_BYTES),
    ],
    ids=["none", "less", "constant", "mixed"],
)
def test_other_conditions_are_tested_on_the_rows(where: Expr | None) -> None:
    plan = plan_recall(recall(where))
    assert plan.keys == ()
    assert plan.rest == ((where,) if where else ())


def test_only_the_columns_a_recall_reads_are_needed() -> None:
    """M9: select-project per chunk."""
    assert columns_needed(recall(BY_SERVER), "at") == ("at", "server", "bytes")
    assert columns_needed(recall(call("<", AT, E_AT)), "at") == ("at", "bytes")


def test_each_task_gets_its_own_key_and_slice() -> None:
    tasks = [
        ask(server="a"),
        ask(server="b"),
        ask(2, 6, server="a"),
        ask(server="none"),
        ask(server=None),
        ask(4, 4, server="a"),
    ]
    assert totals(answer_slice(recall(BY_SERVER), ROWS, "at", tasks)) == [30, 30, 10, None, None, None]


def test_slice_has_its_beginning_and_not_its_end() -> None:
    """M14: slices are half open, so no row is counted twice."""
    tasks = [ask(1, 5, server="a"), ask(1, 6, server="a"), ask(2, 5, server="a"), ask(9, 2, server="a")]
    assert totals(answer_slice(recall(BY_SERVER), ROWS, "at", tasks)) == [20, 30, None, None]


def test_two_keys_that_never_occur_together_find_nothing() -> None:
    """M10: each value is known to the index, the pair is not."""
    tasks = [ask(server="a", bytes=10), ask(server="a", bytes=30), ask(server="b", bytes=10), ask(server="b", bytes=30)]
    assert totals(answer_slice(recall(both(BY_SERVER, BY_BYTES)), ROWS, "at", tasks)) == [10, None, None, 30]


@pytest.mark.parametrize("where", [None, BY_SERVER], ids=["all", "key"])
def test_ranges_that_share_an_end_are_read_once(where: Expr | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """M18: a thousand tasks over one chunk cost little more than one, also where no key tells them apart."""
    read: list[int] = []

    def counted(*args: Any) -> list[Partial]:
        read.append(len(args[3]))
        return reduce_rows(*args)

    monkeypatch.setattr(chunk_kernel, "reduce_rows", counted)
    newest = [ask(0, hi, server="a") for hi in (6, 2, 4, 6)]
    oldest = [ask(lo, 6, server="a") for lo in (4, 0, 2)]
    totals_of = {None: ([100, 20, 90, 100], [10, 100, 80]), BY_SERVER: ([30, 20, 20, 30], [10, 30, 10])}[where]
    assert totals(answer_slice(recall(where), ROWS, "at", newest)) == totals_of[0]
    assert totals(answer_slice(recall(where), ROWS, "at", oldest)) == totals_of[1]
    assert read == [5 if where is None else 3] * 2


def test_parameters_may_be_arrow_scalars() -> None:
    where = both(BY_SERVER, call("<", AT, E_AT))
    one = ask(server=pa.scalar("a"), at=pa.scalar(5, Type.TIMESTAMP.arrow))
    two = ask(server="a", at=6)
    assert totals(answer_slice(recall(where), ROWS, "at", [one, two])) == [20, 30]


def test_tasks_that_ask_the_same_share_one_partial() -> None:
    """M18: equal questions are computed once, whatever else their events say."""
    one, two, other = answer_slice(
        recall(BY_SERVER), ROWS, "at", [ask(server="a", id=1), ask(server="a", id=2), ask(server="b")]
    )
    assert one is two
    assert one is not other


def test_no_tasks_and_no_rows_are_fine() -> None:
    assert answer_slice(recall(BY_SERVER), ROWS, "at", []) == []
    assert totals(answer_slice(recall(BY_SERVER), ROWS.slice(0, 0), "at", [ask(server="a")])) == [None]
    assert totals(answer_slice(recall(None), ROWS.slice(0, 0), "at", [ask(), ask(1, 2)])) == [None, None]


def test_rows_in_many_pieces_are_the_same_rows() -> None:
    pieces = pa.concat_tables([ROWS.slice(0, 2), ROWS.slice(2, 0), ROWS.slice(2)])
    assert totals(answer_slice(recall(BY_SERVER), pieces, "at", [ask(server="a"), ask(server="b")])) == [30, 30]


def test_index_serves_any_number_of_calls_and_recalls() -> None:
    chunk = index_chunk(recall(BY_SERVER), ROWS, "at")
    stricter = recall(both(BY_SERVER, call(">", BYTES, Lit(15, Type.INT))))
    assert totals(answer_indexed(recall(BY_SERVER), chunk, [ask(server="a")])) == [30]
    assert totals(answer_indexed(stricter, chunk, [ask(server="a")])) == [20]


def test_index_by_other_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="use index_chunk"):
        answer_indexed(recall(BY_SERVER), IndexedChunk.of(ROWS, (), "at"), [ask(server="a")])


def test_missing_event_column_is_named() -> None:
    with pytest.raises(MoiraeError, match="event column 'server' expected, but found only rack"):
        answer_slice(recall(BY_SERVER), ROWS, "at", [ask(rack="r1")])


def test_many_rows_are_gathered_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """M10: memory is bounded by the batch, not by the number of tasks."""
    monkeypatch.setattr(chunk_kernel, "MOST_ROWS", 3)
    tasks = [ask(0, hi, server=server) for server in "ab" for hi in range(8)]
    expected = [None, None, 20, 20, 20, 20, 30, 30, None, None, None, None, 30, 30, 30, 30]
    assert totals(answer_slice(recall(BY_SERVER), ROWS, "at", tasks)) == expected
