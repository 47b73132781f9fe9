"""Laws of recall: however history is cut into chunks and whatever is merged first, the answer is that of the whole."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.recall import Question, Row, brute_force, turn_of

from moirae.model.build import call
from moirae.model.chunk import ChunkSpan
from moirae.model.expr import Col, Expr, Lit, Param
from moirae.model.query import AGGREGATES, Aggregate, Output, RecallDef
from moirae.model.schema import Schema, Type
from moirae.recall.chunk_kernel import Asked, answer_indexed, answer_slice, index_chunk
from moirae.recall.partial_codec import dump, load
from moirae.recall.partials import Partial, Shape, finish, merge, merge_all
from moirae.recall.turns import Turn, plan_turns

END = 200
ROWS = Schema.of(
    at=Type.TIMESTAMP, server=Type.STRING, code=Type.INT, bytes=Type.BIGINT, speed=Type.DOUBLE, up=Type.BOOLEAN
)
AT, SERVER, CODE, BYTES, SPEED, UP = (Col(column.name, column.type) for column in ROWS)
E_SERVER, E_CODE, E_SPEED = Param("server", Type.STRING), Param("code", Type.BIGINT), Param("speed", Type.DOUBLE)


def aggregates(*calls: tuple[str, Expr | None]) -> tuple[Aggregate, ...]:
    return tuple(Aggregate(f"a{i}", name, of, _type(name, of)) for i, (name, of) in enumerate(calls))


def _type(function: str, of: Expr | None) -> Type:
    if function in ("count", "count_distinct") or of is None:
        return Type.BIGINT
    if function in ("min", "max"):
        return of.type
    return Type.BIGINT if function == "sum" and of.type is not Type.DOUBLE else Type.DOUBLE


def recall(where: Expr | None, keys: tuple[Expr, ...], *calls: tuple[str, Expr | None]) -> RecallDef:
    outputs = tuple(Output(f"k{i}", key) for i, key in enumerate(keys))
    select = tuple(Output(a.name, Col(a.name, a.type)) for a in aggregates(*calls))
    return RecallDef("r", "e", "s", None, 0, where, outputs, aggregates(*calls), None, select)


def both(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if a is None or b is None else True


def less(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a < b


def same(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a == b


def minus(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a - b


BY_SERVER = call("=", SERVER, E_SERVER)
FASTER = call(">", SPEED, E_SPEED)
ALL_OF_BOTH = [(name, of) for name in AGGREGATES for of in (BYTES, SPEED)]

CASES: dict[str, tuple[RecallDef, Question]] = {
    "every_aggregate_of_a_key": (
        recall(BY_SERVER, (), *ALL_OF_BOTH, ("count", None)),
        Question(
            lambda h, e: same(h["server"], e["server"]),
            [],
            [*((name, lambda h, _, of=of.name: h[of]) for name, of in ALL_OF_BOTH), ("count", None)],
        ),
    ),
    "groups_and_a_condition": (
        recall(call("and", FASTER, call("=", E_SERVER, SERVER)), (CODE,), ("count", None), ("sum", BYTES), ("max", AT)),
        Question(
            lambda h, e: both(less(e["speed"], h["speed"]), same(h["server"], e["server"])),
            [lambda h, _: h["code"]],
            [("count", None), ("sum", lambda h, _: h["bytes"]), ("max", lambda h, _: h["at"])],
        ),
    ),
    "no_condition_two_keys_texts": (
        recall(None, (SERVER, UP), ("count_distinct", SERVER), ("min", SERVER), ("max", UP), ("count_distinct", AT)),
        Question(
            lambda h, e: True,
            [lambda h, _: h["server"], lambda h, _: h["up"]],
            [
                ("count_distinct", lambda h, _: h["server"]),
                ("min", lambda h, _: h["server"]),
                ("max", lambda h, _: h["up"]),
                ("count_distinct", lambda h, _: h["at"]),
            ],
        ),
    ),
    "no_equality_event_in_argument": (
        recall(call("<", SPEED, E_SPEED), (), ("avg", call("-", SPEED, E_SPEED)), ("count", FASTER), ("min", AT)),
        Question(
            lambda h, e: less(h["speed"], e["speed"]),
            [],
            [
                ("avg", lambda h, e: minus(h["speed"], e["speed"])),
                ("count", lambda h, e: less(e["speed"], h["speed"])),
                ("min", lambda h, _: h["at"]),
            ],
        ),
    ),
    "three_equalities": (
        recall(
            call("and", call("and", BY_SERVER, call("=", CODE, E_CODE)), call("=", SPEED, E_SPEED)),
            (UP,),
            ("count", None),
        ),
        Question(
            lambda h, e: both(
                both(same(h["server"], e["server"]), same(h["code"], e["code"])), same(h["speed"], e["speed"])
            ),
            [lambda h, _: h["up"]],
            [("count", None)],
        ),
    ),
    "keys_without_aggregates": (
        recall(call("=", UP, Lit(True, Type.BOOLEAN)), (CODE, E_CODE)),
        Question(lambda h, e: h["up"], [lambda h, _: h["code"], lambda _, e: e["code"]], []),
    ),
}

# Values with few digits, so that sums of fractions are exact; whole numbers of all sizes, so that 64 bits overflow.
servers, codes = st.sampled_from(["a", "b", "é", None]), st.sampled_from([1, 2, None])
quarters = st.none() | st.integers(-8, 8).map(lambda n: n / 4) | st.integers(-4000, 4000).map(lambda n: n / 4)
whole = st.none() | st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1)
row = st.fixed_dictionaries(
    {
        "at": st.integers(0, END - 1),
        "server": servers,
        "code": codes,
        "bytes": whole,
        "speed": quarters,
        "up": st.sampled_from([True, False, None]),
        "chunk": st.integers(0, 3),
    }
)
event = st.fixed_dictionaries({"server": servers, "code": codes, "speed": quarters, "at": st.integers(1, END)})
histories = st.lists(row, max_size=40)
cases = pytest.mark.parametrize("case", CASES)
laws = settings(max_examples=40, deadline=None)


def table(rows: list[Row]) -> pa.Table:
    return pa.table([pa.array([r[c.name] for r in rows], c.type.arrow) for c in ROWS], schema=ROWS.arrow)


def chunks_of(rows: list[Row]) -> dict[str, list[Row]]:
    chunks: dict[str, list[Row]] = {}
    for each in rows:
        chunks.setdefault(f"c{each['chunk']}", []).append(each)
    return chunks


def spans_of(chunks: dict[str, list[Row]]) -> list[ChunkSpan]:
    times = {name: [each["at"] for each in rows] for name, rows in chunks.items()}
    return [ChunkSpan(name, min(at), max(at), len(at)) for name, at in times.items()]


def asked(e: Row, lo: int, hi: int) -> Asked:
    return Asked("eid", e["at"], e, lo, hi)


def answer(definition: RecallDef, partial: Partial) -> dict[tuple[Any, ...], list[Any]]:
    found, keys = finish(partial), len(definition.keys)
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in found.columns]
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return {tuple(values[:keys]): list(values[keys:]) for values in rows}


def agree(found: dict[tuple[Any, ...], list[Any]], expected: dict[tuple[Any, ...], list[Any]]) -> None:
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        for place, value in enumerate(values):
            close = pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
            assert found[key][place] == close, (key, place)


@cases
@laws
@given(rows=histories, e=event, seed=st.integers(0, 9))
def test_any_cut_and_any_order_of_merging_gives_the_whole(case: str, rows: list[Row], e: Row, seed: int) -> None:
    """M9: the per-chunk part and the merged part together are the query itself."""
    definition, question = CASES[case]
    parts = [
        p for c in chunks_of(rows).values() for p in answer_slice(definition, table(c), "at", [asked(e, 0, e["at"])])
    ]
    order = random.Random(seed)
    while len(parts) > 1:
        order.shuffle(parts)
        parts.append(merge(parts.pop(), parts.pop()))
    final = merge_all(Shape.of(definition), parts)
    agree(answer(definition, final), brute_force(question, rows, e, 0, e["at"]))


@cases
@laws
@given(rows=histories, e=event, reach=st.none() | st.integers(1, END))
def test_after_each_turn_the_answer_is_exact_for_what_is_covered(
    case: str, rows: list[Row], e: Row, reach: int | None
) -> None:
    """M14: the annotation is true, and the last answer is that of the whole."""
    definition, question = CASES[case]
    chunks = chunks_of(rows)
    start = None if reach is None else e["at"] - reach
    state = Partial(Shape.of(definition))
    for turn in plan_turns(spans_of(chunks), start, e["at"]):
        for name in turn.chunk_ids:
            (part,) = answer_slice(definition, table(chunks[name]), "at", [asked(e, turn.lo, turn.hi)])
            state = merge(load(dump(state), state.shape), part)
        agree(answer(definition, state), brute_force(question, rows, e, turn.lo, e["at"]))
    agree(answer(definition, state), brute_force(question, rows, e, -END if start is None else start, e["at"]))


@cases
@laws
@given(rows=histories, events=st.lists(st.tuples(event, st.integers(0, END)), max_size=8))
def test_many_tasks_at_once_are_answered_as_each_alone(
    case: str, rows: list[Row], events: list[tuple[Row, int]]
) -> None:
    """M12: sharing a turn changes nobody's answer."""
    definition, question = CASES[case]
    chunk = index_chunk(definition, table(rows), "at")
    tasks = [asked(e, lo, e["at"]) for e, lo in events]
    together = answer_indexed(definition, chunk, tasks)
    assert len(together) == len(tasks)
    for (e, lo), partial in zip(events, together, strict=True):
        agree(answer(definition, partial), brute_force(question, rows, e, lo, e["at"]))


@cases
@laws
@given(rows=histories, e=event)
def test_loaded_partial_is_the_dumped_one(case: str, rows: list[Row], e: Row) -> None:
    """M9: a task goes on after a restart with exactly what it had."""
    definition, _ = CASES[case]
    (partial,) = answer_slice(definition, table(rows), "at", [asked(e, 0, END)])
    assert load(dump(partial), partial.shape) == partial


@laws
@given(rows=histories, lo=st.none() | st.integers(-5, END), hi=st.integers(-5, END + 50))
def test_every_row_asked_for_is_in_exactly_one_slice(rows: list[Row], lo: int | None, hi: int) -> None:
    """M10: turns are disjoint, leave no hole, and name every chunk that holds their rows."""
    chunks = chunks_of(rows)
    turns = plan_turns(spans_of(chunks), lo, hi)
    for name, members in chunks.items():
        for each in members:
            inside = turn_of(each["at"], [(turn.lo, turn.hi) for turn in turns])
            assert len(inside) == ((lo is None or lo <= each["at"]) and each["at"] < hi)
            assert all(name in turns[number].chunk_ids for number in inside)
    check_cover(turns, [each["at"] for each in rows], lo, hi)


def check_cover(turns: tuple[Turn, ...], times: list[int], lo: int | None, hi: int) -> None:
    bottom = min(times, default=hi)
    bottom = bottom if lo is None else max(lo, bottom)
    if not times or bottom >= hi:
        assert turns == ()
        return
    assert (turns[0].hi, turns[-1].lo) == (hi, bottom)
    assert all(newer.lo == older.hi for newer, older in pairwise(turns))
    assert all(turn.lo < turn.hi for turn in turns)


@laws
@given(
    parts=st.lists(
        st.lists(st.integers(-1000, 1000).map(lambda n: 1e9 + n / 1000), max_size=20), min_size=1, max_size=5
    )
)
def test_variance_near_a_billion_keeps_its_digits(parts: list[list[float]]) -> None:
    """M14: (n, mean, M2) by Chan's formula, where sums of squares are worthless."""
    definition = recall(None, (), ("variance", SPEED), ("stddev_pop", SPEED))
    rows = [[dict.fromkeys(ROWS.names) | {"at": 0, "speed": value} for value in part] for part in parts]
    states = [answer_slice(definition, table(part), "at", [asked({"at": 1}, 0, 1)])[0] for part in rows]
    found = answer(definition, merge_all(Shape.of(definition), states))[()]
    question = Question(lambda h, e: True, [], [(name, lambda h, _: h["speed"]) for name in ("variance", "stddev_pop")])
    expected = brute_force(question, [r for part in rows for r in part], {}, 0, 1)[()]
    assert found == [None if value is None else pytest.approx(value, rel=1e-6, abs=1e-7) for value in expected]
