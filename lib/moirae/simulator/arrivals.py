"""Lines of one stream in the order in which they arrive, late and malformed ones among them.

The order and the bytes depend on the spec alone. Whoever writes files only decides where to cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moirae.simulator.columns import Columns
from moirae.simulator.faults import Lateness, with_faults
from moirae.simulator.lines import MALFORMED, clean_lines, malformed_lines
from moirae.simulator.seeds import I64, Mask, blocks
from moirae.simulator.spec import LATENESS
from moirae.simulator.tables import draw_block, to_arrow
from moirae.simulator.world import World


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with the time of arrival, the row's own time, and what kind they are: -1 clean, else malformed."""

    text: pa.Array
    arrival: I64
    at: I64
    kind: I64
    late: Mask

    def __len__(self) -> int:
        return len(self.arrival)

    def __getitem__(self, part: slice) -> Lines:
        return Lines(self.text[part], self.arrival[part], self.at[part], self.kind[part], self.late[part])

    def take(self, order: I64) -> Lines:
        taken = self.text.take(pa.array(order))
        return Lines(taken, self.arrival[order], self.at[order], self.kind[order], self.late[order])

    @property
    def content(self) -> memoryview:
        """The bytes of all lines, as they lie in memory."""
        if not len(self):
            return memoryview(b"")
        offsets = np.frombuffer(self.text.buffers()[1], dtype=np.int32)
        first, last = offsets[self.text.offset], offsets[self.text.offset + len(self)]
        return memoryview(self.text.buffers()[2])[first:last]


def joined(parts: Sequence[Lines]) -> Lines:
    if len(parts) == 1:
        return parts[0]
    text = pa.concat_arrays([part.text for part in parts]) if parts else pa.array([], pa.string())
    empty = np.empty(0, dtype=np.int64)
    arrival = np.concatenate([empty, *(part.arrival for part in parts)])
    at = np.concatenate([empty, *(part.at for part in parts)])
    kind = np.concatenate([empty, *(part.kind for part in parts)])
    late = np.concatenate([empty.astype(np.bool_), *(part.late for part in parts)])
    return Lines(text, arrival, at, kind, late)


def arrivals(world: World, stream: str) -> Iterator[tuple[int, Lines]]:
    """Block by block: a time, and all lines that arrive before it and were not given yet."""
    waiting, judge = joined([]), Lateness(LATENESS)
    for start, end in blocks(world.spec, stream):
        rows = with_faults(world.spec, stream, start, draw_block(world, stream, start, end))
        lines = joined([waiting, _lines(world, stream, rows)])
        lines = lines.take(np.argsort(lines.arrival, kind="stable"))
        due = int(np.searchsorted(lines.arrival, end))
        waiting = lines[due:]
        ready, judge = _judged(lines[:due], judge)
        yield min(end, world.spec.end_us), ready


def _lines(world: World, stream: str, rows: Columns) -> Lines:
    """Clean lines in order of time, each malformed one right behind its original."""
    table = to_arrow(world, stream, rows)
    spoilt = [np.flatnonzero(rows["spoilt"] == kind) for kind in range(len(MALFORMED))]
    form = world.spec.format
    texts = [malformed_lines(table.take(pa.array(at)), MALFORMED[kind], form) for kind, at in enumerate(spoilt)]
    origin = np.concatenate([np.arange(table.num_rows), *spoilt])
    kind = np.repeat(np.arange(-1, len(MALFORMED)), [table.num_rows, *map(len, spoilt)])
    text = pa.concat_arrays([clean_lines(table, form), *texts])
    flags = np.zeros(len(origin), dtype=np.bool_)
    lines = Lines(text, rows["arrival"][origin], rows["at"][origin], kind, flags)
    return lines.take(np.argsort(origin, kind="stable"))


def _judged(lines: Lines, judge: Lateness) -> tuple[Lines, Lateness]:
    clean = lines.kind < 0
    late, following = judge.late(lines.at[clean])
    flags = np.zeros(len(lines), dtype=np.bool_)
    flags[clean] = late
    return Lines(lines.text, lines.arrival, lines.at, lines.kind, flags), following


class Feed:
    """Reads the arrivals of a stream in pieces of any size, by rows or by time."""

    def __init__(self, world: World, stream: str) -> None:
        self._source = arrivals(world, stream)
        self._held = joined([])
        self._known_us = -1  # all arrivals before this are held or given

    def rows(self, count: int) -> Lines:
        """The next `count` lines, fewer at the end."""
        while len(self._held) < count and self._load():
            pass
        return self._give(min(count, len(self._held)))

    def until(self, time_us: int) -> Lines:
        """The next lines that arrive before `time_us`."""
        while self._known_us < time_us and self._load():
            pass
        return self._give(int(np.searchsorted(self._held.arrival, time_us)))

    def _load(self) -> bool:
        loaded = next(self._source, None)
        if loaded is not None:
            self._known_us = loaded[0]
            self._held = joined([self._held, loaded[1]]) if len(self._held) else loaded[1]
        return loaded is not None

    def _give(self, count: int) -> Lines:
        given, self._held = self._held[:count], self._held[count:]
        return given
