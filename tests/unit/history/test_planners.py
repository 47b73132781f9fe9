"""M7, P1: when chunks are rolled, checked, compacted and demoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from moirae.history import (
    ChangeTier,
    CheckChunk,
    CompactChunk,
    RollLimits,
    plan_check,
    plan_compact,
    plan_demote,
    plan_roll,
)
from moirae.history.steps import Step
from moirae.model.chunk import CheckResult, ChunkMeta, State, Tier
from moirae.ports.catalog import ChunkId

LIMITS = RollLimits(size_bytes=1 << 20, age_us=60_000_000)


def chunk(
    sequence: int,
    state: State = "sealed",
    check: CheckResult = "passed",
    tier: Tier = "recent",
    *,
    stream: str = "traffic",
    generation: int = 1,
) -> ChunkMeta:
    return ChunkMeta(
        f"{stream}/{sequence:06d}",
        stream,
        sequence,
        state=state,
        check_result=check,
        tier=tier,
        generation=generation,
        rows=5,
    )


def carried_out(chunks: list[ChunkMeta], steps: Sequence[Step]) -> list[ChunkMeta]:
    tiers = {step.chunk_id: step.after for step in steps if isinstance(step, ChangeTier)}
    return [replace(c, tier=tiers.get(ChunkId(c.id), c.tier)) for c in chunks]


@pytest.mark.parametrize(
    ("state", "rows", "size", "age_us", "reason"),
    [
        ("open", 9, 1 << 20, 0, "1.0 MiB of 1.0 MiB"),
        ("open", 9, (1 << 20) - 1, 59_999_999, None),
        ("open", 9, 10, 60_000_000, "open for 1 minute or longer"),
        ("open", 0, 0, 90_000_000, None),
        ("sealed", 9, 1 << 30, 90_000_000, None),
    ],
    ids=["full", "neither", "aged", "empty", "closed"],
)
def test_chunk_rolls_by_size_or_age_but_never_empty(
    state: State, rows: int, size: int, age_us: int, reason: str | None
) -> None:
    """M7: chunks roll on size or age by themselves."""
    present = ChunkMeta("traffic/000001", "traffic", 1, state=state, rows=rows, bytes=size, opened_at=1_000)
    step = plan_roll(present, 1_000 + age_us, LIMITS)
    assert (step and step.explain()) == (reason and f"roll traffic/000001: {reason}")


def test_limits_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        RollLimits(0, 1)


def test_only_sealed_and_unjudged_chunks_are_checked_oldest_first() -> None:
    """P4: each chunk is checked once."""
    chunks = [
        chunk(3, check="none"),
        chunk(1, check="none"),
        chunk(2),
        chunk(4, "open", "none"),
        chunk(5, "held", "failed"),
    ]
    steps = plan_check(chunks)
    assert steps == [CheckChunk(ChunkId("traffic/000001"), 5), CheckChunk(ChunkId("traffic/000003"), 5)]
    assert steps[0].explain() == "check traffic/000001: sealed with 5 rows and not yet checked"


def test_only_chunks_that_passed_are_compacted_and_only_once() -> None:
    """P1: a failed chunk keeps its evidence, a compacted one is left alone."""
    chunks = [
        chunk(1, generation=0),
        chunk(2, generation=1),
        chunk(3, check="none", generation=0),
        chunk(4, "held", "failed", generation=0),
        chunk(5, "expired", generation=0),
        chunk(6, "open", "none", "present", generation=0),
    ]
    steps = plan_compact(chunks)
    assert steps == [CompactChunk(ChunkId("traffic/000001"), 0)]
    assert steps[0].explain() == "compact traffic/000001: generation 0 becomes 1"


DEMOTIONS: list[tuple[str, int, list[ChunkMeta], list[str]]] = [
    (
        "newest_become_recent",
        2,
        [chunk(1), chunk(2, tier="present"), chunk(3, tier="present")],
        ["1:old", "2:recent", "3:recent"],
    ),
    ("more_places_bring_back", 3, [chunk(1, tier="old"), chunk(2), chunk(3)], ["1:recent"]),
    ("unchecked_waits", 1, [chunk(1), chunk(2, check="none", tier="present")], []),
    ("failed_takes_no_place", 1, [chunk(1), chunk(2, "held", "failed", "present")], ["2:old"]),
    ("failed_but_not_yet_held", 1, [chunk(1), chunk(2, "sealed", "failed")], ["2:old"]),
    ("present_and_expired_stay", 1, [chunk(1, "expired", tier="old"), chunk(2, "open", "none", "present")], []),
    ("none_recent", 0, [chunk(1), chunk(2)], ["1:old", "2:old"]),
    ("streams_apart", 1, [chunk(1, stream="a"), chunk(7, stream="b"), chunk(2, stream="a")], ["1:old"]),
]


@pytest.mark.parametrize(("places", "chunks", "moves"), [d[1:] for d in DEMOTIONS], ids=[d[0] for d in DEMOTIONS])
def test_newest_passed_chunks_are_recent_and_the_rest_old(
    places: int, chunks: list[ChunkMeta], moves: list[str]
) -> None:
    """M7: a few recent, the rest old; P4: a failed chunk is not served as recent."""
    steps = plan_demote(chunks, places)
    assert [f"{int(s.chunk_id[-6:])}:{s.after}" for s in steps if isinstance(s, ChangeTier)] == moves
    assert plan_demote(carried_out(chunks, steps), places) == [], "a plan carried out leaves nothing to do"


def test_step_says_what_moves_and_why() -> None:
    steps = plan_demote([chunk(1), chunk(2)], 1)
    line = "move traffic/000001 from recent to old: not among the newest 1 that passed their check"
    assert [step.explain() for step in steps] == [line]
