"""From rows to partials, many owners (tasks) at once: every aggregate is one pass over sorted columns.

Rows come grouped by owner. They are sorted into runs of one group each; a reducer gives one state a run that has
values, and the empty state stands for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moirae.recall.partials import Key, Part, Partial, Shape
from moirae.recall.states import RULES, State, plain, same_zero

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Runs:
    """Rows in runs: run i is the `sizes[i]` rows from `starts[i]` and belongs to `groups[i]`."""

    groups: Ints
    starts: Ints
    sizes: Ints

    @classmethod
    def of(cls, group: Ints) -> Runs:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        return cls(group[starts], starts, np.diff(starts, append=len(group)))


def reduce_rows(
    shape: Shape, keys: Sequence[pa.Array], arguments: Sequence[pa.Array | None], owner: Ints, owners: int
) -> list[Partial]:
    """One partial an owner from rows in owner order; `keys` and `arguments` have one value a row."""
    group = _group(keys, owner)
    order = None if not keys else np.argsort(group, kind="stable")
    if order is not None:
        group, owner = group[order], owner[order]
        arguments = [None if a is None else a.take(pa.array(order)) for a in arguments]
    runs = Runs.of(group)
    first = runs.starts if order is None else order[runs.starts]
    names = zip(*(plain(key.take(pa.array(first))) for key in keys), strict=True) if keys else ((),) * len(first)
    columns = [_reduce(part, values, group, len(first)) for part, values in zip(shape.parts, arguments, strict=True)]
    states = zip(*columns, strict=True) if columns else ((),) * len(first)
    found: list[dict[Key, tuple[State, ...]]] = [{} for _ in range(owners)]
    for number, key, state in zip(owner[runs.starts].tolist(), names, states, strict=True):
        found[number][key] = state
    return [Partial(shape, groups) for groups in found]


def _group(keys: Sequence[pa.Array], owner: Ints) -> Ints:
    """A dense number for each (owner, keys), in owner order; NULL is a key value of its own."""
    group = _dense(owner)
    for key in keys:
        encoded = same_zero(key).dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        group = _dense(group * (len(encoded.dictionary) + 1) + codes)
    return group


def _dense(codes: Ints) -> Ints:
    if len(codes) and (np.diff(codes) >= 0).all():  # sorted already: no need to sort again
        return np.cumsum(np.diff(codes, prepend=codes[0]) > 0)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _reduce(part: Part, values: pa.Array | None, group: Ints, groups: int) -> list[State]:
    if values is None:
        return [(size,) for size in np.bincount(group, minlength=groups).tolist()]
    if values.null_count:
        valid = values.is_valid()
        values, group = values.filter(valid), group[valid.to_numpy(zero_copy_only=False)]
    states = [RULES[part.function].empty] * groups
    if len(values):
        runs = Runs.of(group)
        for number, state in zip(runs.groups.tolist(), _REDUCERS[part.function](values, runs), strict=True):
            states[number] = state
    return states


def _counts(_: pa.Array, runs: Runs) -> list[State]:
    return [(size,) for size in runs.sizes.tolist()]


def _sums(values: pa.Array, runs: Runs) -> list[State]:
    return [(total,) for total in _totals(values, runs)]


def _means(values: pa.Array, runs: Runs) -> list[State]:
    return list(zip(_totals(values, runs), runs.sizes.tolist(), strict=True))


def _totals(values: pa.Array, runs: Runs) -> list[int] | list[float]:
    """Sums; those of whole numbers are exact even where 64 bits are too few."""
    x = _numbers(values)
    if x.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return list(np.add.reduceat(x, runs.starts).tolist())
    if max(int(x.max()), -int(x.min())) * len(x) < 2**63:
        return list(np.add.reduceat(x, runs.starts).tolist())
    high, low = (np.add.reduceat(half, runs.starts).tolist() for half in (x >> 32, x & 0xFFFFFFFF))
    return [(h << 32) + rest for h, rest in zip(high, low, strict=True)]


def _moments(values: pa.Array, runs: Runs) -> list[State]:
    """(n, mean, M2) in two passes, with the mean's own rounding taken out of both."""
    x, n = _numbers(values).astype(np.float64), runs.sizes
    with np.errstate(all="ignore"):
        mean = np.add.reduceat(x, runs.starts) / n
        apart = x - np.repeat(mean, n)
        off = np.add.reduceat(apart, runs.starts)
        m2 = np.add.reduceat(apart * apart, runs.starts) - off * off / n
        return list(zip(n.tolist(), (mean + off / n).tolist(), np.maximum(m2, 0.0).tolist(), strict=True))


def _least(values: pa.Array, runs: Runs) -> list[State]:
    return _extremes(values, runs, np.fmin if pa.types.is_floating(values.type) else np.minimum)


def _most(values: pa.Array, runs: Runs) -> list[State]:
    return _extremes(values, runs, np.maximum)  # a NaN wins, as it does in Spark


def _extremes(values: pa.Array, runs: Runs, choose: np.ufunc) -> list[State]:
    if pa.types.is_string(values.type):
        return _text_extremes(values, runs, choose)
    with np.errstate(all="ignore"):
        found = choose.reduceat(_numbers(values), runs.starts)
    return [(value,) for value in plain(pa.array(found).cast(_stored(values.type)))]


def _text_extremes(values: pa.Array, runs: Runs, choose: np.ufunc) -> list[State]:
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    found = choose.reduceat(rank[encoded.indices.to_numpy()], runs.starts)
    return [(value,) for value in encoded.dictionary.take(pa.array(order[found])).to_pylist()]


def _distinct(values: pa.Array, runs: Runs) -> list[State]:
    encoded = same_zero(values).dictionary_encode()
    size = len(encoded.dictionary)
    number = np.repeat(np.arange(len(runs.starts)), runs.sizes)
    pairs = np.unique(number * size + encoded.indices.to_numpy())
    members = plain(encoded.dictionary.take(pa.array(pairs % size)))
    ends = np.cumsum(np.bincount(pairs // size, minlength=len(runs.starts))).tolist()
    return [(frozenset(members[start:end]),) for start, end in zip([0, *ends], ends, strict=False)]


def _numbers(values: pa.Array) -> Numbers:
    """Values without NULLs as numpy numbers: times as microseconds, truth as 0 and 1."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif not pa.types.is_floating(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _stored(type_: pa.DataType) -> pa.DataType:
    return type_ if pa.types.is_boolean(type_) or pa.types.is_floating(type_) else pa.int64()


_REDUCERS = {
    "count": _counts,
    "sum": _sums,
    "avg": _means,
    "min": _least,
    "max": _most,
    "count_distinct": _distinct,
} | dict.fromkeys(("stddev", "stddev_pop", "variance", "var_pop"), _moments)
