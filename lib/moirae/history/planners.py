"""Pure decisions about chunks: figures and the time in, steps out.

A plan depends on nothing but its arguments, and the plan made after its steps were carried out is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from moirae.history.steps import ChangeTier, CheckChunk, CompactChunk, RollChunk, RollLimits
from moirae.model.chunk import ChunkFacts, Tier
from moirae.model.units import show_duration, show_size
from moirae.ports.catalog import ChunkId


def plan_roll(chunk: ChunkFacts, now: int, limits: RollLimits) -> RollChunk | None:
    """Roll an open chunk that has rows once it is big or old enough.

    Old is by the clock or by its rows: history that is filled in quickly is cut like history that was lived through.
    """
    if chunk.state != "open" or not chunk.rows:
        return None
    age = now - chunk.opened_at
    span = chunk.max_at - chunk.min_at if chunk.max_at is not None and chunk.min_at is not None else 0
    if chunk.bytes >= limits.size_bytes:
        return RollChunk(ChunkId(chunk.id), f"{show_size(chunk.bytes)} of {show_size(limits.size_bytes)}")
    if age >= limits.age_us:
        return RollChunk(ChunkId(chunk.id), f"open for {show_duration(limits.age_us)} or longer")
    if span >= limits.age_us:
        return RollChunk(ChunkId(chunk.id), f"holds rows of {show_duration(limits.age_us)} or more")
    return None


def plan_check(chunks: Iterable[ChunkFacts]) -> list[CheckChunk]:
    """Every sealed chunk is checked once, oldest first."""
    waiting = [chunk for chunk in chunks if chunk.state == "sealed" and chunk.check_result == "none"]
    return [CheckChunk(ChunkId(chunk.id), chunk.rows) for chunk in _in_order(waiting)]


def plan_compact(chunks: Iterable[ChunkFacts]) -> list[CompactChunk]:
    """Chunks as the stream wrote them (generation 0) are rewritten once they passed their check, oldest first."""
    ready = [chunk for chunk in chunks if _served(chunk) and chunk.generation == 0]
    return [CompactChunk(ChunkId(chunk.id), chunk.generation) for chunk in _in_order(ready)]


def plan_demote(chunks: Iterable[ChunkFacts], recent_chunks: int) -> list[ChangeTier]:
    """In every stream the newest `recent_chunks` chunks that passed are recent; other closed ones are old.

    A sealed chunk that waits for its check keeps its tier: nothing is known against it yet. One that failed is old at
    once and takes no place among the recent.
    """
    streams = groupby(_in_order(chunks), key=lambda chunk: chunk.stream)
    return [step for _, members in streams for step in _demote_stream(list(members), recent_chunks)]


def _demote_stream(chunks: Sequence[ChunkFacts], recent_chunks: int) -> list[ChangeTier]:
    served = [chunk.id for chunk in chunks if _served(chunk)]
    recent = set(served[max(0, len(served) - recent_chunks) :])
    steps = (_move(chunk, recent, recent_chunks) for chunk in chunks)
    return [step for step in steps if step]


def _move(chunk: ChunkFacts, recent: set[str], recent_chunks: int) -> ChangeTier | None:
    if _failed(chunk):
        return _tier(chunk, "old", "its check failed")
    if not _served(chunk):
        return None
    if chunk.id in recent:
        return _tier(chunk, "recent", f"among the newest {recent_chunks} that passed their check")
    return _tier(chunk, "old", f"not among the newest {recent_chunks} that passed their check")


def _tier(chunk: ChunkFacts, after: Tier, reason: str) -> ChangeTier | None:
    return None if chunk.tier == after else ChangeTier(ChunkId(chunk.id), chunk.tier, after, reason)


def _served(chunk: ChunkFacts) -> bool:
    return chunk.state == "sealed" and chunk.check_result == "passed"


def _failed(chunk: ChunkFacts) -> bool:
    return chunk.state == "held" or (chunk.state == "sealed" and chunk.check_result == "failed")


def _in_order(chunks: Iterable[ChunkFacts]) -> list[ChunkFacts]:
    return sorted(chunks, key=lambda chunk: (chunk.stream, chunk.sequence))
