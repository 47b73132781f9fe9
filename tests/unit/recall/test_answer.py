"""M14, M16: answers while history is still being read, and their revisions."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from moirae.model.build import call
from moirae.model.expr import Col, Expr, Lit, Param
from moirae.model.query import Aggregate, Output, RecallDef
from moirae.model.schema import Type
from moirae.recall.answer import asked_extent, make_answer, rows_of
from moirae.recall.partials import Partial, Shape
from moirae.recall.reducers import reduce_rows
from moirae.recall.turns import Turn

BYTES, LOAD = Col("bytes", Type.BIGINT), Col("load", Type.DOUBLE)
AGGREGATES = (
    Aggregate("n", "count", None, Type.BIGINT),
    Aggregate("total", "sum", BYTES, Type.BIGINT),
    Aggregate("work", "sum", LOAD, Type.DOUBLE),
    Aggregate("mean", "avg", BYTES, Type.DOUBLE),
    Aggregate("most", "max", BYTES, Type.BIGINT),
    Aggregate("kinds", "count_distinct", BYTES, Type.BIGINT),
)
ALL = tuple(Output(a.name, Col(a.name, a.type)) for a in AGGREGATES)
SERVER = Output("server", Col("server", Type.STRING))


def recall(*select: Output, keys: tuple[Output, ...] = (), having: Expr | None = None) -> RecallDef:
    return RecallDef("usual", "busy", "traffic", None, 0, None, keys, AGGREGATES, having, select or ALL)


def partial(definition: RecallDef, servers: list[str]) -> Partial:
    count = len(servers)
    values = pa.array([2, 3, 4, 5][:count], pa.int64())
    arguments = [None, values, pa.array([0.5] * count), values, values, values]
    keys = [pa.array(servers)] if definition.keys else []
    return reduce_rows(Shape.of(definition), keys, arguments, np.zeros(count, np.int64), 1)[0]


def test_sum_and_count_are_stretched_while_history_is_incomplete() -> None:
    """M14: to the asked interval, whole numbers rounded; other aggregates as they are."""
    part = partial(recall(), ["a"] * 3)
    found = make_answer(recall(), part, 70, 100, 0, 100)
    assert found.to_pylist() == [{"n": 10, "total": 30, "work": pytest.approx(5.0), "mean": 3.0, "most": 4, "kinds": 3}]
    rounded = make_answer(recall(), part, 30, 100, 0, 100)
    assert [rounded.column(name)[0].as_py() for name in ("n", "total")] == [4, 13]


def test_last_turn_is_exact() -> None:
    """M14: the estimate converges to the exact answer."""
    found = make_answer(recall(), partial(recall(), ["a"] * 3), 0, 100, 0, 100)
    assert found.to_pylist() == [{"n": 3, "total": 9, "work": 1.5, "mean": 3.0, "most": 4, "kinds": 3}]


def test_nothing_found_yet_is_null_and_zero() -> None:
    found = make_answer(recall(), Partial(Shape.of(recall())), 50, 100, 0, 100)
    assert found.to_pylist() == [{"n": 0, "total": None, "work": None, "mean": None, "most": None, "kinds": 0}]


def test_estimate_out_of_range_is_null() -> None:
    big = reduce_rows(
        Shape.of(recall()),
        [],
        [None, *[pa.array([2**62]), pa.array([1.0])], *[pa.array([1])] * 3],
        np.zeros(1, np.int64),
        1,
    )[0]
    assert make_answer(recall(), big, 99, 100, 0, 100).column("total")[0].as_py() is None


def test_selected_columns_are_computed_from_aggregates_keys_and_the_event() -> None:
    """M2: `mean - e.limit` beside the group's key."""
    above = call("-", Col("mean", Type.DOUBLE), Param("limit", Type.DOUBLE))
    definition = recall(SERVER, Output("above", above), keys=(SERVER,))
    found = make_answer(definition, partial(definition, ["a", "b", "a"]), 0, 9, 0, 9, params={"limit": 1.0})
    assert found.to_pylist() == [{"server": "a", "above": 2.0}, {"server": "b", "above": 2.0}]
    assert found.schema == definition.schema.arrow


def test_having_sees_the_stretched_values() -> None:
    definition = recall(SERVER, ALL[0], keys=(SERVER,), having=call(">", Col("n", Type.BIGINT), Lit(3, Type.INT)))
    part = partial(definition, ["a", "b", "a"])
    assert make_answer(definition, part, 0, 9, 0, 9).num_rows == 0
    assert make_answer(definition, part, 50, 100, 0, 100).to_pylist() == [{"server": "a", "n": 4}]


def test_asked_interval_goes_no_further_back_than_the_archive() -> None:
    assert asked_extent([Turn(20, 30, ("b",)), Turn(7, 20, ("a",))]) == (7, 30)


def test_rows_can_be_written_as_json() -> None:
    """M16: revisions are kept and sent as JSON."""
    table = pa.table(
        {
            "at": pa.array([5, None, 1, 2], Type.TIMESTAMP.arrow),
            "x": [math.nan, 1.5, math.inf, -math.inf],
            "up": [True, None, False, True],
        }
    )
    rows = rows_of(table)
    assert rows[0] == {"at": 5, "x": "NaN", "up": True}
    assert [row["x"] for row in rows] == ["NaN", 1.5, "Infinity", "-Infinity"]
    assert json.loads(json.dumps(rows, allow_nan=False)) == list(rows)
