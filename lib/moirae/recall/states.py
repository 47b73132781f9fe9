"""The mergeable state of each aggregate: what two chunks tell each other, exactly.

A state is a small tuple of plain values. Whole numbers are Python's and never wrap; variance is (n, mean, M2) merged by
Chan's formula, because sums of squares lose everything near 1e9. NULLs never enter; no rows at all are the empty state.
Times are microseconds; a NaN is always the same object, so that it equals itself in a key or a set, as in Spark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.schema import Type

Value = bool | int | float | str | None
State = tuple[Any, ...]
Field = Literal["count", "total", "value", "real", "values"]  # how a part of a state is stored

NAN = math.nan
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Rule:
    """`merge` of two states and `finish` of one; `empty` is the state of no rows."""

    empty: State
    fields: tuple[Field, ...]
    merge: Callable[[State, State], State]
    finish: Callable[[State], Value]


def plain(array: pa.Array) -> list[Any]:
    """An Arrow array as the plain values of states and keys."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        return list(array.cast(pa.int64()).to_pylist())
    if pa.types.is_floating(array.type):
        return [NAN if value is not None and math.isnan(value) else value for value in array.to_pylist()]
    return list(array.to_pylist())


def columnar(values: Sequence[Value], type_: Type) -> pa.Array:
    """Plain values as an Arrow array. A BIGINT out of range becomes NULL: no number is better than a wrong one."""
    if type_ is Type.BIGINT:
        values = [None if value is None or not -_MOST - 1 <= value <= _MOST else value for value in values]  # type: ignore[operator]
    return pa.array(values, type_.arrow)


def same_zero(array: pa.Array) -> pa.Array:
    """-0.0 and 0.0 are one value in keys and sets."""
    return pc.add(array, 0.0) if pa.types.is_floating(array.type) else array


def merge_moments(a: State, b: State) -> State:
    """Chan's formula for (n, mean, M2)."""
    if not a[0] or not b[0]:
        return b if not a[0] else a
    n, delta = a[0] + b[0], b[1] - a[1]
    mean = a[1] + delta * (b[0] / n)
    return (n, mean, a[2] + b[2] + delta * delta * (a[0] * (b[0] / n)))


def _merge_sum(a: State, b: State) -> State:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return (a[0] + b[0],)


def _merge_min(a: State, b: State) -> State:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return b if _below(b[0], a[0]) else a


def _merge_max(a: State, b: State) -> State:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return b if _below(a[0], b[0]) else a


def _below(a: Any, b: Any) -> bool:
    """Spark's order: NaN is above every number."""
    return bool(a < b) or (b is NAN and a is not NAN)


def _spread(least: int, root: bool) -> Callable[[State], Value]:
    def finish(state: State) -> Value:
        n, _, m2 = state
        if n <= least:
            return None
        variance = m2 / (n - least)
        return math.sqrt(variance) if root else variance

    return finish


def _moments(least: int, root: bool) -> Rule:
    return Rule((0, 0.0, 0.0), ("count", "real", "real"), merge_moments, _spread(least, root))


RULES: dict[str, Rule] = {
    "count": Rule((0,), ("count",), lambda a, b: (a[0] + b[0],), lambda s: s[0]),
    "sum": Rule((None,), ("total",), _merge_sum, lambda s: s[0]),
    "avg": Rule(
        (0, 0), ("total", "count"), lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda s: s[0] / s[1] if s[1] else None
    ),
    "min": Rule((None,), ("value",), _merge_min, lambda s: s[0]),
    "max": Rule((None,), ("value",), _merge_max, lambda s: s[0]),
    "stddev": _moments(1, True),
    "variance": _moments(1, False),
    "stddev_pop": _moments(0, True),
    "var_pop": _moments(0, False),
    "count_distinct": Rule((frozenset(),), ("values",), lambda a, b: (a[0] | b[0],), lambda s: len(s[0])),
}
