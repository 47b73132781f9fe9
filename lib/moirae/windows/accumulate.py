"""Running aggregates as two flat matrices: one row a group, one column a register, whole numbers and reals apart.

A layout lists the registers of a query's aggregates once; compiled loops add rows to groups and groups to groups.
Within a group, values are added one after the other in the order they come: so the result depends on the order of the
rows, which the host fixes, and never on how they were cut into batches.

Variance is kept as (count, mean, M2) and merged by Chan's formula: sums of squares lose everything near 1e9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moirae.model.query import Aggregate
from moirae.model.schema import Type

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Register kinds. COUNT registers come before the ones that read them.
_COUNT_ROWS, _COUNT, _SUM_INT, _SUM_REAL, _MIN_INT, _MAX_INT, _MIN_REAL, _MAX_REAL, _MOMENTS = range(9)
_REAL = {"sum": _SUM_REAL, "min": _MIN_REAL, "max": _MAX_REAL}
_INT = {"sum": _SUM_INT, "min": _MIN_INT, "max": _MAX_INT}
_SPREAD = ("stddev", "stddev_pop", "variance", "var_pop")


@dataclass(frozen=True, slots=True)
class Argument:
    """The values an aggregate reads, as both matrices' element type; `valid` is False where the value is NULL."""

    ints: Ints
    reals: Floats
    valid: Mask


@dataclass(frozen=True, slots=True)
class Groups:
    """Accumulated registers of n groups."""

    ints: Ints  # (n, registers)
    reals: Floats

    def __len__(self) -> int:
        return len(self.ints)

    def take(self, index: npt.NDArray[np.int64] | slice) -> Groups:
        return Groups(self.ints[index], self.reals[index])


class Layout:
    """Where each aggregate's registers are. Aggregates over the same argument share them."""

    def __init__(self, aggregates: Sequence[Aggregate], arguments: Sequence[int], types: Sequence[Type]) -> None:
        """`arguments[i]` is the argument of the i-th aggregate (-1: count(*)), `types` the arguments' types."""
        self.aggregates = tuple(aggregates)
        self.arguments = tuple(arguments)
        self.types = tuple(types)
        self._places: dict[tuple[int, int], int] = {}
        self._ops: list[tuple[int, int, int, int]] = []
        self.n_ints = self.n_reals = 0
        for aggregate, argument in zip(aggregates, arguments, strict=True):
            self._add(aggregate.function, argument)
        self.ops = np.array(self._ops, np.int32).reshape(-1, 4)

    def _add(self, function: str, argument: int) -> None:
        if argument < 0:
            self._register(_COUNT_ROWS, -1, -1)
            return
        count = self._register(_COUNT, argument, -1)
        real = self.types[argument] is Type.DOUBLE
        if function == "avg":
            self._register(
                _SUM_REAL, argument, count
            )  # of whole numbers too: their sum may not fit where the mean does
        elif function in _INT:
            self._register((_REAL if real else _INT)[function], argument, count)
        elif function in _SPREAD:
            self._register(_MOMENTS, argument, count)

    def _register(self, kind: int, argument: int, count: int) -> int:
        place = self._places.get((kind, argument))
        if place is None:
            width = 2 if kind == _MOMENTS else 1
            if kind in (_SUM_REAL, _MIN_REAL, _MAX_REAL, _MOMENTS):
                place, self.n_reals = self.n_reals, self.n_reals + width
            else:
                place, self.n_ints = self.n_ints, self.n_ints + width
            self._places[kind, argument] = place
            self._ops.append((kind, argument, place, count))
        return place

    def empty(self, n: int) -> Groups:
        return Groups(np.zeros((n, self.n_ints), np.int64), np.zeros((n, self.n_reals), np.float64))

    def accumulate(self, groups: Groups, group_of_row: npt.NDArray[np.int64], arguments: Sequence[Argument]) -> None:
        """Add rows to their groups, in place."""
        n = len(group_of_row)
        ints = np.zeros((len(arguments), n), np.int64)
        reals = np.zeros((len(arguments), n), np.float64)
        valid = np.zeros((len(arguments), n), np.bool_)
        for i, argument in enumerate(arguments):
            ints[i], reals[i], valid[i] = argument.ints, argument.reals, argument.valid
        _accumulate(self.ops, group_of_row, ints, reals, valid, groups.ints, groups.reals)

    def finish(self, groups: Groups, index: int) -> pa.Array:
        """The value of the index-th aggregate for every group."""
        aggregate, argument = self.aggregates[index], self.arguments[index]
        if argument < 0:
            return pa.array(groups.ints[:, self._places[_COUNT_ROWS, -1]])
        count = groups.ints[:, self._places[_COUNT, argument]]
        if aggregate.function == "count":
            return pa.array(count)
        real = self.types[argument] is Type.DOUBLE
        if aggregate.function in _SPREAD:
            return self._finish_spread(groups, argument, aggregate.function, count)
        if aggregate.function == "avg":
            sums = groups.reals[:, self._places[_SUM_REAL, argument]]
            return pa.array(sums / np.maximum(count, 1), mask=count == 0)
        kind = (_REAL if real else _INT)[aggregate.function]
        values = (groups.reals if real else groups.ints)[:, self._places[kind, argument]]
        plain = pa.array(values, mask=count == 0)
        if aggregate.type is Type.TIMESTAMP:
            return plain.cast(pa.timestamp("us")).cast(Type.TIMESTAMP.arrow)
        return plain.cast(aggregate.type.arrow)

    def _finish_spread(self, groups: Groups, argument: int, function: str, count: Ints) -> pa.Array:
        spread = groups.reals[:, self._places[_MOMENTS, argument] + 1]
        missing = 0 if function.endswith("_pop") else 1
        variance = spread / np.maximum(count - missing, 1)
        values = np.sqrt(variance) if function.startswith("stddev") else variance
        return pa.array(values, mask=count <= missing)


def read_argument(values: pa.Array | pa.ChunkedArray, type_: Type) -> Argument:
    """An evaluated argument as plain arrays."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    valid = np.asarray(array.is_valid())
    if type_ is Type.DOUBLE:
        return Argument(np.zeros(len(array), np.int64), np.asarray(array.fill_null(0.0)), valid)
    if type_ is Type.STRING:  # can only be counted
        return Argument(np.zeros(len(array), np.int64), np.zeros(len(array)), valid)
    ints = np.asarray(array.cast(pa.int64()).fill_null(0))
    return Argument(ints, ints.astype(np.float64), valid)


@numba.njit(cache=True)
def _accumulate(
    ops: npt.NDArray[np.int32],
    group_of_row: Ints,
    ints: Ints,
    reals: Floats,
    valid: Mask,
    to_ints: Ints,
    to_reals: Floats,
) -> None:
    """A row at a time, all registers of it: a register may read the count before it, which includes this row."""
    for row in range(len(group_of_row)):
        group = group_of_row[row]
        for i in range(len(ops)):
            kind, argument, place, count = ops[i]
            if kind == _COUNT_ROWS:
                to_ints[group, place] += 1
            elif not valid[argument, row]:
                continue
            elif kind == _COUNT:
                to_ints[group, place] += 1
            elif kind == _SUM_INT:
                to_ints[group, place] += ints[argument, row]
            elif kind == _SUM_REAL:
                to_reals[group, place] += reals[argument, row]
            elif kind in (_MIN_INT, _MAX_INT):
                _keep_int(kind == _MAX_INT, ints[argument, row], to_ints[group, count] == 1, to_ints, group, place)
            elif kind in (_MIN_REAL, _MAX_REAL):
                _keep_real(kind == _MAX_REAL, reals[argument, row], to_ints[group, count] == 1, to_reals, group, place)
            else:
                value = reals[argument, row]
                delta = value - to_reals[group, place]
                to_reals[group, place] += delta / to_ints[group, count]
                to_reals[group, place + 1] += delta * (value - to_reals[group, place])


@numba.njit(cache=True)
def _keep_int(largest: bool, value: int, first: bool, to_ints: Ints, group: int, place: int) -> None:
    kept = to_ints[group, place]
    if first or (value > kept if largest else value < kept):
        to_ints[group, place] = value


@numba.njit(cache=True)
def _keep_real(largest: bool, value: float, first: bool, to_reals: Floats, group: int, place: int) -> None:
    """NaN is the largest value, as in Spark."""
    kept = to_reals[group, place]
    better = (value > kept or np.isnan(value)) if largest else (value < kept or np.isnan(kept))
    if first or better:
        to_reals[group, place] = value


@numba.njit(cache=True)
def merge_group(
    ops: npt.NDArray[np.int32], ints: Ints, reals: Floats, source: int, to_ints: Ints, to_reals: Floats, target: int
) -> None:
    """Add group `source` to group `target`; the later group comes second. COUNTs go last, the others read them."""
    for i in range(len(ops) - 1, -1, -1):
        kind, place, count = ops[i, 0], ops[i, 2], ops[i, 3]
        if kind <= _SUM_INT:
            to_ints[target, place] += ints[source, place]
            continue
        n = ints[source, count]
        if n == 0:
            continue
        before = to_ints[target, count]
        if kind == _SUM_REAL:
            to_reals[target, place] += reals[source, place]
        elif kind in (_MIN_INT, _MAX_INT):
            _keep_int(kind == _MAX_INT, ints[source, place], before == 0, to_ints, target, place)
        elif kind in (_MIN_REAL, _MAX_REAL):
            _keep_real(kind == _MAX_REAL, reals[source, place], before == 0, to_reals, target, place)
        elif before == 0:
            to_reals[target, place] = reals[source, place]
            to_reals[target, place + 1] = reals[source, place + 1]
        else:
            total = before + n
            delta = reals[source, place] - to_reals[target, place]
            to_reals[target, place] += delta * n / total
            to_reals[target, place + 1] += reals[source, place + 1] + delta * delta * before * n / total
