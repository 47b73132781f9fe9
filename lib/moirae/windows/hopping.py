"""Hopping and tumbling window aggregates.

Time is cut into panes of gcd(size, hop); every key that has rows in a pane has one *slot* of registers, and a window is
the merge of its panes. Because rows come in time order, slots are created in pane order: the slots of a window are one
slice, the slots no window needs any more are a prefix, and the slot of a row is its key's last one or a new one. So
there is no hashing and no sorting in the hot loop.

Invariant: the state holds exactly the slots of panes that some window not yet given out will read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moirae.model.evaluate import evaluate
from moirae.model.expr import Expr
from moirae.model.query import Aggregate, Window
from moirae.model.schema import Type
from moirae.model.units import show_duration
from moirae.ports.kernel import NO_WATERMARK, Output, Rows
from moirae.windows.accumulate import Groups, Ints, Layout, merge_group, read_argument
from moirae.windows.distinct import DistinctSet


@dataclass(frozen=True, slots=True)
class PaneState:
    """Slots ordered by pane; `watermark` is the last one seen."""

    key: npt.NDArray[np.int32]
    pane: Ints
    groups: Groups
    distinct: tuple[DistinctSet, ...]
    watermark: int


class HoppingAggregate:
    """The kernel of one `GROUP BY …, window(at, size, hop)` query: gives out every aggregate of every closed window."""

    def __init__(self, window: Window, aggregates: tuple[Aggregate, ...]) -> None:
        self.window = window
        self.pane_us = math.gcd(window.size_us, window.hop_us)
        self.panes_per_window = window.size_us // self.pane_us
        self.panes_per_hop = window.hop_us // self.pane_us
        self.aggregates = aggregates
        self.counted = tuple(a for a in aggregates if a.function == "count_distinct")
        self._plain = tuple(a for a in aggregates if a.function != "count_distinct")
        self._arguments: list[Expr] = list(dict.fromkeys(a.argument for a in self._plain if a.argument is not None))
        places = [-1 if a.argument is None else self._arguments.index(a.argument) for a in self._plain]
        self._layout = Layout(self._plain, places, [argument.type for argument in self._arguments])

    def explain(self) -> str:
        size, hop = show_duration(self.window.size_us), show_duration(self.window.hop_us)
        state = f"{self.panes_per_window} panes of {show_duration(self.pane_us)} a key"
        return f"window {size} hop {hop}: {state}, {self._layout.n_ints + self._layout.n_reals} registers a pane"

    def start(self) -> PaneState:
        nothing = self._layout.empty(0)
        sets = tuple(DistinctSet.start() for _ in self.counted)
        return PaneState(np.empty(0, np.int32), np.empty(0, np.int64), nothing, sets, NO_WATERMARK)

    def advance(self, state: PaneState, rows: Rows, n_keys: int, watermark: int) -> tuple[PaneState, Output]:
        state = self._accumulate(state, rows, n_keys)
        return self._close(state, n_keys, watermark)

    def _accumulate(self, state: PaneState, rows: Rows, n_keys: int) -> PaneState:
        if len(rows) == 0:
            return state
        pane = rows.at // self.pane_us
        slot, key, new_pane = _slots(rows.key, pane, state.key, state.pane, n_keys)
        grown = self._layout.empty(len(key))
        old = len(state.key)
        grown.ints[:old], grown.reals[:old] = state.groups.ints, state.groups.reals
        arguments = [read_argument(evaluate(a, rows.columns), a.type) for a in self._arguments]
        self._layout.accumulate(grown, slot, arguments)
        ids = rows.key.astype(np.int64)
        sets = tuple(
            kept.add(pane, ids, _plain_array(evaluate(a.argument, rows.columns)))
            for kept, a in zip(state.distinct, self.counted, strict=True)
            if a.argument is not None
        )
        return PaneState(key, new_pane, grown, sets, state.watermark)

    def _close(self, state: PaneState, n_keys: int, watermark: int) -> tuple[PaneState, Output]:
        """Give out the windows that end in (last watermark, watermark] and forget what no later window reads."""
        first, end = self._closing(state, watermark)
        size, hop = self.panes_per_window, self.panes_per_hop
        window, low, high = _filled_windows(first, end, size, hop, state.pane)
        groups = state.groups
        window, key, ints, reals = _merge_windows(
            window, low, high, state.key, groups.ints, groups.reals, self._layout.ops, n_keys
        )
        columns = self._finish(state, window, key, Groups(ints, reals))
        start = window * self.window.hop_us
        output = Output(key, start + self.window.size_us, start, columns)
        needed = max(end, first) * hop if len(state.pane) else 0
        kept = int(np.searchsorted(state.pane, needed)) if end > first else 0
        sets = tuple(s.drop_before(needed) for s in state.distinct) if end > first else state.distinct
        top = max(watermark, state.watermark)
        return PaneState(state.key[kept:], state.pane[kept:], groups.take(slice(kept, None)), sets, top), output

    def _closing(self, state: PaneState, watermark: int) -> tuple[int, int]:
        """The indices [first, end) of the windows to give out; window i starts at i · hop."""
        if len(state.pane) == 0 or watermark <= state.watermark:
            return 0, 0
        oldest, newest = int(state.pane[0]), int(state.pane[-1])
        size, hop = self.panes_per_window, self.panes_per_hop
        first = (oldest - size) // hop + 1
        if state.watermark != NO_WATERMARK:
            first = max(first, (state.watermark // self.pane_us - size) // hop + 1)
        end = min(newest // hop, (watermark // self.pane_us - size) // hop) + 1
        return first, max(first, end)

    def _finish(self, state: PaneState, window: Ints, key: npt.NDArray[np.int32], groups: Groups) -> pa.Table:
        values: dict[str, pa.Array] = {}
        for i, aggregate in enumerate(self._plain):
            values[aggregate.name] = self._layout.finish(groups, i)
        for kept, aggregate in zip(state.distinct, self.counted, strict=True):
            values[aggregate.name] = pa.array(self._count_distinct(kept, window, key))
        start = window * self.window.hop_us
        values["window_start"] = _times(start)
        values["window_end"] = _times(start + self.window.size_us)
        return pa.table(values)

    def _count_distinct(self, kept: DistinctSet, window: Ints, key: npt.NDArray[np.int32]) -> Ints:
        counts = np.zeros(len(window), np.int64)
        borders = [0, *np.flatnonzero(np.diff(window)) + 1, len(window)] if len(window) else []
        for low, high in pairwise(borders):
            first = int(window[low]) * self.panes_per_hop
            counts[low:high] = kept.count(first, first + self.panes_per_window, key[low:high].astype(np.int64))
        return counts

    def live_keys(self, state: PaneState, n_keys: int) -> npt.NDArray[np.bool_]:
        live = np.zeros(n_keys, np.bool_)
        live[state.key] = True
        return live

    def rekey(self, state: PaneState, new_ids: npt.NDArray[np.int32]) -> PaneState:
        sets = tuple(kept.rekey(new_ids) for kept in state.distinct)
        return PaneState(new_ids[state.key], state.pane, state.groups, sets, state.watermark)

    def dump(self, state: PaneState) -> pa.Table:
        """One row a slot; the watermark and the distinct sets travel in the schema's metadata as Arrow of their own."""
        columns: dict[str, pa.Array] = {"key": pa.array(state.key), "pane": pa.array(state.pane)}
        for name, matrix in (("i", state.groups.ints), ("f", state.groups.reals)):
            columns |= {f"{name}{c}": pa.array(np.ascontiguousarray(matrix[:, c])) for c in range(matrix.shape[1])}
        metadata = {b"watermark": str(state.watermark).encode()}
        for i, kept in enumerate(state.distinct):
            metadata[f"distinct{i}".encode()] = _dump_set(kept.compact())
        return pa.table(columns).replace_schema_metadata(metadata)

    def load(self, table: pa.Table) -> PaneState:
        metadata = table.schema.metadata
        groups = self._layout.empty(table.num_rows)
        for name, matrix in (("i", groups.ints), ("f", groups.reals)):
            for c in range(matrix.shape[1]):
                matrix[:, c] = table[f"{name}{c}"].to_numpy()
        sets = tuple(_load_set(metadata[f"distinct{i}".encode()]) for i in range(len(self.counted)))
        watermark = int(metadata[b"watermark"])
        return PaneState(table["key"].to_numpy(), table["pane"].to_numpy(), groups, sets, watermark)


def _plain_array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _times(micros: Ints) -> pa.Array:
    return pa.array(micros).cast(pa.timestamp("us")).cast(Type.TIMESTAMP.arrow)


def _dump_set(kept: DistinctSet) -> bytes:
    triples = pa.table({"pane": kept.pane, "key": kept.key, "value": kept.value})
    words = pa.table({"word": kept.words})
    first = _ipc(triples)
    return len(first).to_bytes(8, "little") + first + _ipc(words)


def _load_set(data: bytes) -> DistinctSet:
    cut = 8 + int.from_bytes(data[:8], "little")
    triples, words = (pa.ipc.open_stream(part).read_all() for part in (data[8:cut], data[cut:]))
    pane, key, value = (triples[name].to_numpy() for name in ("pane", "key", "value"))
    return DistinctSet(pane, key, value, words["word"].combine_chunks())


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


@numba.njit(cache=True)
def _slots(
    key: npt.NDArray[np.int32], pane: Ints, old_key: npt.NDArray[np.int32], old_pane: Ints, n_keys: int
) -> tuple[Ints, npt.NDArray[np.int32], Ints]:
    """The slot of each row, and the keys and panes of all slots, old ones first."""
    last = np.full(n_keys, -1, np.int64)
    keys = np.empty(len(old_key) + len(key), np.int32)
    panes = np.empty(len(old_key) + len(key), np.int64)
    keys[: len(old_key)] = old_key
    panes[: len(old_key)] = old_pane
    for i in range(len(old_key)):
        last[old_key[i]] = i
    used = len(old_key)
    slot = np.empty(len(key), np.int64)
    for row in range(len(key)):
        at = last[key[row]]
        if at < 0 or panes[at] != pane[row]:
            at = used
            used += 1
            last[key[row]] = at
            keys[at] = key[row]
            panes[at] = pane[row]
        slot[row] = at
    return slot, keys[:used].copy(), panes[:used].copy()


@numba.njit(cache=True)
def _filled_windows(first: int, end: int, size: int, hop: int, pane: Ints) -> tuple[Ints, Ints, Ints]:
    """The windows among [first, end) that have slots, and the slots of each. A silent century costs nothing."""
    panes = 1 + np.count_nonzero(np.diff(pane)) if len(pane) else 0
    most = min(end - first, panes * (size // hop + 1))
    windows, lows, highs = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    used = low = high = 0
    window = first
    while window < end:
        while low < len(pane) and pane[low] < window * hop:
            low += 1
        if low == len(pane):
            break
        if pane[low] >= window * hop + size:
            window = (pane[low] - size) // hop + 1
            continue
        while high < len(pane) and pane[high] < window * hop + size:
            high += 1
        windows[used], lows[used], highs[used] = window, low, high
        used += 1
        window += 1
    return windows[:used], lows[:used], highs[:used]


@numba.njit(cache=True)
def _merge_windows(
    window: Ints,
    low: Ints,
    high: Ints,
    key: npt.NDArray[np.int32],
    ints: Ints,
    reals: npt.NDArray[np.float64],
    ops: npt.NDArray[np.int32],
    n_keys: int,
) -> tuple[Ints, npt.NDArray[np.int32], Ints, npt.NDArray[np.float64]]:
    """Merge the slots of each window; one output row a window and key, in window order, then key order."""
    total = 0
    for i in range(len(window)):
        total += min(high[i] - low[i], n_keys)
    out_window = np.empty(total, np.int64)
    out_key = np.empty(total, np.int32)
    out_ints = np.zeros((total, ints.shape[1]), np.int64)
    out_reals = np.zeros((total, reals.shape[1]), np.float64)
    row_of_key = np.full(n_keys, -1, np.int64)
    end = 0
    for i in range(len(window)):
        begin = end
        for slot in range(low[i], high[i]):
            if row_of_key[key[slot]] < begin:
                row_of_key[key[slot]] = end
                out_key[end] = key[slot]
                end += 1
        out_window[begin:end] = window[i]
        out_key[begin:end] = np.sort(out_key[begin:end])
        for row in range(begin, end):
            row_of_key[out_key[row]] = row
        for slot in range(low[i], high[i]):
            merge_group(ops, ints, reals, slot, out_ints, out_reals, row_of_key[key[slot]])
    return out_window[:end], out_key[:end], out_ints[:end], out_reals[:end]
