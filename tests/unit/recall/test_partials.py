"""M9, M14: partials of chunks merge to the aggregate of the whole, with SQL's NULLs and Spark's NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from moirae.model.query import AGGREGATES
from moirae.model.schema import Column, Type
from moirae.recall.partial_codec import VERSION, dump, load
from moirae.recall.partials import Part, Partial, Shape, finish, merge, merge_all
from moirae.recall.reducers import reduce_rows

NAN = math.nan


def shape_of(function: str, argument: Type | None, type_: Type, *keys: Column) -> Shape:
    return Shape(tuple(keys), (Part("x", function, argument, type_),))


def partial(shape: Shape, values: list[Any] | None, *keys: list[Any], rows: int = 0) -> Partial:
    argument = shape.parts[0].argument
    arrays = [pa.array(key, column.type.arrow) for key, column in zip(keys, shape.keys, strict=True)]
    owner = np.zeros(rows if values is None else len(values), np.int64)
    given = None if values is None or argument is None else pa.array(values, argument.arrow)
    return reduce_rows(shape, arrays, [given], owner, 1)[0]


def total(function: str, argument: Type, type_: Type, *chunks: list[Any]) -> Any:
    shape = shape_of(function, argument, type_)
    return finish(merge_all(shape, [partial(shape, chunk) for chunk in chunks])).column("x")[0].as_py()


@pytest.mark.parametrize("function", AGGREGATES)
@pytest.mark.parametrize(
    "chunks", [(), ([],), ([None], []), ([None, None], [None])], ids=["none", "bare", "null", "nulls"]
)
def test_no_values_give_null_and_a_count_of_zero(function: str, chunks: tuple[list[Any], ...]) -> None:
    """M14: NULLs are ignored as in SQL."""
    type_ = Type.BIGINT if function.startswith("count") else Type.DOUBLE
    assert total(function, Type.DOUBLE, type_, *chunks) == (0 if function.startswith("count") else None)


def test_rows_are_counted_whatever_they_hold() -> None:
    shape = shape_of("count", None, Type.BIGINT)
    merged = merge(partial(shape, None, rows=3), partial(shape, None, rows=2))
    assert finish(merged).to_pylist() == [{"x": 5}]


def test_sum_of_bigints_is_exact_on_the_way_and_null_out_of_range() -> None:
    """M14: no wrong number, even where 64 bits are too few."""
    most = 2**63 - 1
    assert total("sum", Type.BIGINT, Type.BIGINT, [most, most], [-most]) == most
    assert total("sum", Type.BIGINT, Type.BIGINT, [-(2**63)] * 3, [most, most, 3]) == -(2**63) + 1
    assert total("sum", Type.BIGINT, Type.BIGINT, [most], [1]) is None
    assert total("avg", Type.BIGINT, Type.DOUBLE, [most, most], [most]) == float(most)
    assert total("sum", Type.INT, Type.BIGINT, [2**31 - 1] * 3) == 3 * (2**31 - 1)


def test_variance_near_a_billion_is_not_lost() -> None:
    """M14: sums of squares gave -128 for a spread of about one."""
    values = [1e9 + offset for offset in (-1.2, 0.3, 0.9, 1.1, -0.4)]
    expected = float(np.var([-1.2, 0.3, 0.9, 1.1, -0.4], ddof=1))
    assert total("variance", Type.DOUBLE, Type.DOUBLE, values[:2], values[2:]) == pytest.approx(expected, rel=1e-6)


def test_spread_of_one_value_is_null_for_a_sample_and_zero_for_a_population() -> None:
    """M2: as Spark's stddev and stddev_pop."""
    assert total("stddev", Type.DOUBLE, Type.DOUBLE, [7.0]) is None
    assert total("variance", Type.DOUBLE, Type.DOUBLE, [7.0]) is None
    assert total("stddev_pop", Type.DOUBLE, Type.DOUBLE, [7.0]) == 0.0
    assert total("var_pop", Type.BIGINT, Type.DOUBLE, [1], [3]) == 1.0


@pytest.mark.parametrize("chunks", [([1.0, NAN, -2.0],), ([NAN], [1.0, -2.0]), ([1.0, -2.0], [NAN])])
def test_nan_is_the_greatest_number(chunks: tuple[list[float], ...]) -> None:
    """M14: Spark's order."""
    assert total("min", Type.DOUBLE, Type.DOUBLE, *chunks) == -2.0
    assert math.isnan(total("max", Type.DOUBLE, Type.DOUBLE, *chunks))
    assert math.isnan(total("sum", Type.DOUBLE, Type.DOUBLE, *chunks))
    assert math.isnan(total("stddev", Type.DOUBLE, Type.DOUBLE, *chunks))
    assert total("count_distinct", Type.DOUBLE, Type.BIGINT, *chunks, [NAN, NAN]) == 3


def test_infinite_values_warn_nobody() -> None:
    assert total("sum", Type.DOUBLE, Type.DOUBLE, [math.inf], [1.0]) == math.inf
    assert math.isnan(total("stddev", Type.DOUBLE, Type.DOUBLE, [math.inf, 1.0], [2.0]))
    assert math.isnan(total("avg", Type.DOUBLE, Type.DOUBLE, [math.inf], [-math.inf]))


def test_both_zeros_and_all_nans_are_one_group() -> None:
    """M9: groups as Spark makes them, NULL among them."""
    shape = shape_of("count", None, Type.BIGINT, Column("k", Type.DOUBLE))
    one = partial(shape, None, [0.0, NAN, None, -0.0], rows=4)
    two = partial(load(dump(one), shape).shape, None, [-0.0, NAN, None], rows=3)
    found = finish(merge(load(dump(one), shape), two))
    counts = {str(row["k"]): row["x"] for row in found.to_pylist()}
    assert counts == {"0.0": 3, "nan": 2, "None": 2}


@pytest.mark.parametrize(
    ("type_", "values", "least", "most"),
    [
        (Type.STRING, ["b", "é", "a", None], "a", "é"),
        (Type.BOOLEAN, [True, None, False], False, True),
        (Type.INT, [3, -3, None], -3, 3),
        (Type.BIGINT, [2**62, -(2**62)], -(2**62), 2**62),
        (Type.NULL, [None], None, None),
    ],
    ids=str,
)
def test_extremes_of_every_type(type_: Type, values: list[Any], least: Any, most: Any) -> None:
    for chunks in ([values], [values[:1], values[1:]], [values[1:], values[:1]]):
        assert total("min", type_, type_, *chunks) == least
        assert total("max", type_, type_, *chunks) == most


def test_times_come_back_as_times() -> None:
    shape = shape_of("max", Type.TIMESTAMP, Type.TIMESTAMP, Column("k", Type.TIMESTAMP))
    found = finish(load(dump(partial(shape, [5, 9], [1, 1])), shape))
    assert found.schema.types == [Type.TIMESTAMP.arrow] * 2
    assert [column.cast(pa.int64()).to_pylist() for column in found.columns] == [[1], [9]]


def test_partials_of_different_recalls_do_not_merge() -> None:
    count, most = shape_of("count", None, Type.BIGINT), shape_of("max", Type.INT, Type.INT)
    with pytest.raises(ValueError, match="start the task anew"):
        merge(Partial(count), Partial(most))


def test_dump_of_another_version_or_shape_is_refused() -> None:
    """M9: a changed recall does not go on with the old one's state."""
    count, most = shape_of("count", None, Type.BIGINT), shape_of("max", Type.INT, Type.INT)
    data = dump(Partial(count))
    assert data[0] == VERSION
    assert load(data, count) == Partial(count)
    with pytest.raises(ValueError, match=f"version {VERSION} expected, but found version 99"):
        load(bytes([99]) + data[1:], count)
    with pytest.raises(ValueError, match="found nothing"):
        load(b"", count)
    with pytest.raises(ValueError, match="max x 0"):
        load(data, most)


def test_a_dumped_partial_is_small() -> None:
    """M9: what a chunk says about a task is figures, not rows."""
    shape = shape_of("stddev", Type.DOUBLE, Type.DOUBLE)
    assert len(dump(partial(shape, [float(i) for i in range(100_000)]))) < 2_000
