"""The rows of a chunk by key and time, so that a task finds its rows without looking at others.

Rows are sorted once by (key, time); a key's rows in a time slice are one range. Rows with a NULL key are left out:
nothing equals NULL. An index serves every recall that compares the same expressions, and every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.evaluate import evaluate
from moirae.model.expr import Expr
from moirae.recall.states import same_zero

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """`rows` in (key, time) order; rows of `codes[i]` begin at `starts[i]` and end at `starts[i + 1]`."""

    rows: pa.Table
    keys: tuple[Expr, ...]
    at: Ints
    values: tuple[pa.Array, ...]  # of each key, the distinct values; their places make up the code
    codes: Ints
    starts: Ints

    @classmethod
    def of(cls, rows: pa.Table, keys: Sequence[Expr], time_column: str) -> IndexedChunk:
        """Index rows by expressions over their columns."""
        rows = rows.combine_chunks()
        code, values, rows = _encode(rows, keys)
        at = _micros(rows.column(time_column))
        if not _in_order(code, at):
            order = np.lexsort((at, code))
            code, at, rows = code[order], at[order], rows.take(pa.array(order)).combine_chunks()
        codes, starts = np.unique(code, return_index=True)
        return cls(rows, tuple(keys), at, values, codes, np.append(starts, len(code)))

    def find(self, wanted: Sequence[pa.Array], lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """For each task, where its key's rows with lo <= at < hi begin and end; `wanted` are the keys' values."""
        code, known = np.zeros(len(lo), np.int64), np.ones(len(lo), np.bool_)
        for values, asked in zip(self.values, wanted, strict=True):
            place = pc.index_in(same_zero(asked), value_set=values)
            known &= place.is_valid().to_numpy(zero_copy_only=False) & asked.is_valid().to_numpy(zero_copy_only=False)
            code = code * len(values) + place.fill_null(0).to_numpy(zero_copy_only=False)
        spot = np.minimum(np.searchsorted(self.codes, code), max(0, len(self.codes) - 1))
        if not len(self.codes):
            return np.zeros_like(lo), np.zeros_like(lo)
        known &= self.codes[spot] == code
        begin, end = np.where(known, self.starts[spot], 0), np.where(known, self.starts[spot + 1], 0)
        start = _lower_bound(self.at, begin, end, lo)
        return start, np.maximum(start, _lower_bound(self.at, begin, end, hi))


def _encode(rows: pa.Table, keys: Sequence[Expr]) -> tuple[Ints, tuple[pa.Array, ...], pa.Table]:
    columns = [same_zero(evaluate(key, rows)) for key in keys]
    for place in range(len(columns)):
        if columns[place].null_count:
            valid = columns[place].is_valid()
            rows, columns = rows.filter(valid).combine_chunks(), [column.filter(valid) for column in columns]
    code, values = np.zeros(rows.num_rows, np.int64), []
    for column in columns:
        encoded = column.dictionary_encode()
        values.append(encoded.dictionary)
        code = code * len(encoded.dictionary) + encoded.indices.to_numpy()
    return code, tuple(values), rows


def _micros(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.cast(pa.int64()).to_numpy())


def _in_order(code: Ints, at: Ints) -> bool:
    step = np.diff(code)
    return bool(((step > 0) | ((step == 0) & (np.diff(at) >= 0))).all())


def _lower_bound(at: Ints, begin: Ints, end: Ints, wanted: Ints) -> Ints:
    """In each range, the first row at or after the wanted time: binary search, all ranges at once."""
    low, high = begin.copy(), end.copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        before = open_ & (at[np.minimum(middle, len(at) - 1)] < wanted)
        low, high = np.where(before, middle + 1, low), np.where(open_ & ~before, middle, high)
    return low
