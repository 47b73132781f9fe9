"""M1: what each aggregate makes of the values of one window: NULLs, no values, one value, odd numbers, large ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from moirae.model.expr import Col
from moirae.model.query import AGGREGATES, Aggregate, Window
from moirae.model.schema import Type
from moirae.ports.kernel import END_OF_TIME, Rows
from moirae.windows import HoppingAggregate

NAN, INF = math.nan, math.inf
MOST = 2**63 - 1
RESULTS = {"count": Type.BIGINT, "count_distinct": Type.BIGINT, "sum": Type.BIGINT}


def aggregate(function: str, values: list[Any], type_: Type, panes: int = 1) -> Any:
    """The aggregate of one window that holds these values, one a microsecond, spread over some panes."""
    result = type_ if function in ("min", "max") else RESULTS.get(function, Type.DOUBLE)
    result = Type.DOUBLE if type_ is Type.DOUBLE and function == "sum" else result
    call = Aggregate("a", function, Col("value", type_), result)
    size = len(values) * panes
    spec = HoppingAggregate(Window(size, size // panes), (call,))
    at = np.arange(len(values), dtype=np.int64) * panes
    rows = Rows(np.zeros(len(values), np.int32), at, at, pa.table({"value": pa.array(values, type_.arrow)}))
    _, output = spec.advance(spec.start(), rows, 1, END_OF_TIME)
    window = output.identity.tolist().index(0)
    found = output.columns["a"][window]
    return found.cast(pa.int64()).as_py() if result is Type.TIMESTAMP else found.as_py()


def of_all(values: list[Any], type_: Type = Type.BIGINT) -> dict[str, Any]:
    return {function: aggregate(function, values, type_) for function in AGGREGATES}


def test_aggregates_of_a_few_numbers() -> None:
    """M1: the textbook's example (mean 5, population deviation 2)."""
    expected = {
        "count": 8,
        "sum": 40,
        "avg": 5.0,
        "min": 2,
        "max": 9,
        "stddev": pytest.approx(math.sqrt(32 / 7)),
        "stddev_pop": 2.0,
        "variance": pytest.approx(32 / 7),
        "var_pop": 4.0,
        "count_distinct": 5,
    }
    assert of_all([2, 4, 4, 4, 5, 5, 7, 9]) == expected
    assert of_all([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], Type.DOUBLE) == expected
    assert of_all([2, 4, 4, 4, 5, 5, 7, 9], Type.INT) == expected


def test_nulls_are_not_values() -> None:
    """M1: every aggregate is that of the other rows."""
    assert of_all([None, 3, None, 5, 3, None]) == of_all([3, 5, 3])
    assert of_all([None, 3.5, None], Type.DOUBLE) == of_all([3.5], Type.DOUBLE)


@pytest.mark.parametrize("type_", [Type.INT, Type.BIGINT, Type.DOUBLE], ids=lambda type_: type_.value)
def test_a_window_of_nothing_but_nulls(type_: Type) -> None:
    """M1: counts are 0 and the others NULL, as in SQL; a sum of nothing is not 0."""
    found = of_all([None, None], type_)
    assert {name for name, value in found.items() if value == 0} == {"count", "count_distinct"}
    assert {value for name, value in found.items() if not name.startswith("count")} == {None}


def test_one_value_has_no_sample_deviation() -> None:
    """M1: it divides by n - 1, so it is NULL, as in Spark 3 and later; the population's is 0."""
    found = of_all([7])
    assert (found["stddev"], found["variance"]) == (None, None)
    assert (found["stddev_pop"], found["var_pop"]) == (0.0, 0.0)


def test_rows_are_counted_with_their_nulls() -> None:
    """M1: count(*) is of rows, count(x) of values."""
    calls = (
        Aggregate("rows", "count", None, Type.BIGINT),
        Aggregate("values", "count", Col("value", Type.STRING), Type.BIGINT),
    )
    spec, at = HoppingAggregate(Window(10, 10), calls), np.arange(3)
    rows = Rows(np.zeros(3, np.int32), at, at, pa.table({"value": pa.array(["a", None, "a"])}))
    _, output = spec.advance(spec.start(), rows, 1, END_OF_TIME)
    assert output.columns.select(["rows", "values"]).to_pylist() == [{"rows": 3, "values": 2}]


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        (["a", None, "b", "a", "", None], Type.STRING, 3),
        (["é", "e\u0301", "E"], Type.STRING, 3),
        ([1, None, 1, 2], Type.INT, 2),
        ([MOST, -MOST - 1, MOST, 0], Type.BIGINT, 3),
        ([0.0, -0.0, 1.5, None], Type.DOUBLE, 2),
        ([NAN, -NAN, INF, -INF, NAN], Type.DOUBLE, 3),
        ([True, False, None, True], Type.BOOLEAN, 2),
        ([0, 1, 0, None], Type.TIMESTAMP, 2),
    ],
    ids=["text", "letters", "int", "far apart", "zeros", "odd reals", "truth", "times"],
)
def test_distinct_values(values: list[Any], type_: Type, expected: int) -> None:
    """M1: exact, NULL is none of them; zero has no sign and NaN equals itself, as in Spark."""
    assert aggregate("count_distinct", values, type_) == expected


def test_distinct_values_of_panes_are_united() -> None:
    """M1: a value that comes again in the next pane is the same value."""
    assert aggregate("count_distinct", ["a", "b", "a", "c"], Type.STRING, panes=4) == 3


def test_a_sum_of_whole_numbers_wraps() -> None:
    """M1: as in Java and in Spark without ANSI mode; the mean is computed with reals and does not."""
    assert aggregate("sum", [MOST, 1], Type.BIGINT) == -MOST - 1
    assert aggregate("sum", [MOST, 1, -1], Type.BIGINT) == MOST
    assert aggregate("avg", [MOST, MOST], Type.BIGINT) == float(MOST)


def test_a_sum_of_ints_does_not_overflow_at_their_size() -> None:
    """M1: it is a BIGINT."""
    assert aggregate("sum", [2**31 - 1, 2**31 - 1], Type.INT) == 2**32 - 2


def test_large_whole_numbers_keep_every_digit() -> None:
    """M1: 2^53 + 1 is no double."""
    assert aggregate("max", [2**53 + 1, 2**53], Type.BIGINT) == 2**53 + 1
    assert aggregate("sum", [2**53 + 1, 0], Type.BIGINT) == 2**53 + 1


def test_extremes_of_negative_numbers() -> None:
    """M1: an empty register is no 0 to compare with."""
    assert aggregate("max", [-5, -3, -9], Type.BIGINT) == -3
    assert aggregate("min", [5.0, 3.0, 9.0], Type.DOUBLE) == 3.0
    assert aggregate("max", [None, -MOST - 1], Type.BIGINT) == -MOST - 1


def test_extremes_of_times() -> None:
    """M1: times are times again when they come out."""
    assert aggregate("min", [5, -7, None], Type.TIMESTAMP) == -7
    assert aggregate("max", [5, -7, None], Type.TIMESTAMP) == 5


@pytest.mark.parametrize("values", [[1.0, NAN, 2.0], [NAN, 1.0, 2.0], [1.0, 2.0, NAN]], ids=str)
@pytest.mark.parametrize("panes", [1, 3])
def test_nan_is_the_largest_number(values: list[float], panes: int) -> None:
    """M1: as in Spark: the maximum is NaN, the minimum is not, wherever the NaN stands."""
    assert aggregate("min", values, Type.DOUBLE, panes) == 1.0
    assert math.isnan(aggregate("max", values, Type.DOUBLE, panes))
    assert math.isnan(aggregate("sum", values, Type.DOUBLE, panes))
    assert math.isnan(aggregate("avg", values, Type.DOUBLE, panes))


def test_infinities_are_numbers() -> None:
    """M1: larger than all but NaN; opposite ones have no sum."""
    assert aggregate("max", [1.0, INF], Type.DOUBLE) == INF
    assert aggregate("min", [-INF, NAN], Type.DOUBLE) == -INF
    assert aggregate("sum", [INF, 1.0], Type.DOUBLE) == INF
    assert math.isnan(aggregate("sum", [INF, -INF], Type.DOUBLE))
    assert math.isnan(aggregate("stddev", [INF, 1.0], Type.DOUBLE))


@pytest.mark.parametrize("panes", [1, 4])
def test_deviation_survives_a_large_mean(panes: int) -> None:
    """M1: sums of squares would say 0 here, or worse, the root of a negative number."""
    values = [1e9 + offset for offset in (4.0, 7.0, 13.0, 16.0)]
    assert aggregate("variance", values, Type.DOUBLE, panes) == pytest.approx(30.0)
    assert aggregate("stddev_pop", [1e9] * 4, Type.DOUBLE, panes) == 0.0


@pytest.mark.parametrize("function", AGGREGATES)
def test_a_window_of_many_panes_is_the_window_of_one(function: str) -> None:
    """M1: panes of nothing but NULLs among them."""
    values = [None, 4, 9, None, None, 2, 4, None]
    assert aggregate(function, values, Type.BIGINT, panes=8) == pytest.approx(aggregate(function, values, Type.BIGINT))
