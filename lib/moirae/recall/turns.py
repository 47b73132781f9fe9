"""Turns are time slices, newest first: after each turn the answer is exact for one unbroken interval.

Chunks overlap a little in event time (late rows within the lateness), so a slice ends just above the newest row of all
chunks not yet read, and every row older than that waits for its slice, whichever chunk holds it. Slices are disjoint,
their union is the asked interval from the archive's first row on, and a row lies in one (slice, chunk) pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moirae.model.chunk import ChunkSpan


@dataclass(frozen=True, slots=True)
class Turn:
    """Rows with lo <= at < hi, and the chunks that may hold such rows, newest first."""

    lo: int
    hi: int
    chunk_ids: tuple[str, ...]


def plan_turns(chunks: Sequence[ChunkSpan], asked_from: int | None, asked_to: int) -> tuple[Turn, ...]:
    """Cut [asked_from, asked_to) into turns; no lower end asks for all of history.

    >>> spans = [ChunkSpan("a", 0, 10), ChunkSpan("b", 8, 20), ChunkSpan("c", 21, 30)]
    >>> for turn in plan_turns(spans, None, 26):
    ...     print(turn)
    Turn(lo=21, hi=26, chunk_ids=('c',))
    Turn(lo=11, hi=21, chunk_ids=('b',))
    Turn(lo=0, hi=11, chunk_ids=('b', 'a'))
    """
    if not chunks:
        return ()
    newest_first = sorted(chunks, key=lambda chunk: (chunk.max_at, chunk.min_at, chunk.chunk_id), reverse=True)
    first_row = min(chunk.min_at for chunk in chunks)
    bottom = first_row if asked_from is None else max(asked_from, first_row)
    # The slice of a chunk ends above the next one's newest row; the last slice ends at the bottom.
    ends = [max(bottom, chunk.max_at + 1) for chunk in newest_first[1:]]
    return _join_bare(_cut(newest_first, [*ends, bottom], asked_to))


def _cut(newest_first: Sequence[ChunkSpan], ends: Sequence[int], asked_to: int) -> list[Turn]:
    turns: list[Turn] = []
    unread: list[ChunkSpan] = []  # chunks begun whose older rows wait for later slices
    hi = asked_to
    for chunk, lo in zip(newest_first, ends, strict=True):
        unread.append(chunk)
        if lo < hi:
            turns.append(Turn(lo, hi, tuple(c.chunk_id for c in unread if c.min_at < hi and c.max_at >= lo)))
            hi = lo
        unread = [c for c in unread if c.min_at < hi]
    return turns


def _join_bare(turns: list[Turn]) -> tuple[Turn, ...]:
    """A first slice between chunks holds no rows: it goes with the next one rather than cost a turn."""
    if len(turns) > 1 and not turns[0].chunk_ids:
        return (Turn(turns[1].lo, turns[0].hi, turns[1].chunk_ids), *turns[2:])
    return tuple(turns)


def chunks_within(chunks: Iterable[ChunkSpan], lo: int, hi: int) -> int:
    """How many chunks have been read once [lo, hi) is covered.

    >>> chunks_within([ChunkSpan("a", 0, 10), ChunkSpan("b", 8, 20)], 11, 26)
    1
    """
    return sum(chunk.min_at < hi and chunk.max_at >= lo for chunk in chunks)
