"""M10, M14: history is read newest first, in slices that leave no hole."""

from __future__ import annotations

import pytest

from moirae.model.chunk import ChunkMeta, ChunkSpan, span_of
from moirae.recall.turns import Turn, chunks_within, plan_turns

A, B, C = ChunkSpan("a", 0, 10), ChunkSpan("b", 8, 20), ChunkSpan("c", 21, 30)


@pytest.mark.parametrize(
    ("chunks", "asked", "turns"),
    [
        ([], (0, 100), []),
        ([A], (0, 100), [Turn(0, 100, ("a",))]),
        ([A], (None, 100), [Turn(0, 100, ("a",))]),
        ([A], (-50, 5), [Turn(0, 5, ("a",))]),
        ([A], (-50, 0), []),
        ([A], (50, 60), [Turn(50, 60, ())]),
        ([C, A, B], (None, 26), [Turn(21, 26, ("c",)), Turn(11, 21, ("b",)), Turn(0, 11, ("b", "a"))]),
        ([A, B], (9, 12), [Turn(11, 12, ("b",)), Turn(9, 11, ("b", "a"))]),
        ([A, ChunkSpan("z", 50, 60)], (None, 40), [Turn(0, 40, ("a",))]),
        ([A, ChunkSpan("z", 50, 60)], (11, 40), [Turn(11, 40, ())]),
        ([A, ChunkSpan("same", 3, 10)], (None, 40), [Turn(0, 40, ("same", "a"))]),
        (
            [ChunkSpan("wide", 0, 30), ChunkSpan("in", 10, 20)],
            (None, 31),
            [Turn(21, 31, ("wide",)), Turn(0, 21, ("wide", "in"))],
        ),
    ],
    ids=["empty", "one", "all", "clipped", "before", "after", "overlap", "cut", "gap", "bare", "same_end", "nested"],
)
def test_slices_follow_the_newest_unread_row(
    chunks: list[ChunkSpan], asked: tuple[int | None, int], turns: list[Turn]
) -> None:
    """M10: newest chunk first; a row waits for its slice, whichever chunk holds it."""
    assert list(plan_turns(chunks, *asked)) == turns


def test_a_chunk_read_in_two_turns_counts_once() -> None:
    """M14: the annotation tells how many chunks the answer rests on, also after a restart in between."""
    spans = [A, B, C]
    assert [chunks_within(spans, turn.lo, 26) for turn in plan_turns(spans, None, 26)] == [1, 2, 3]
    assert [chunks_within([A, B], turn.lo, 12) for turn in plan_turns([A, B], 9, 12)] == [1, 2]
    assert [chunks_within([A], turn.lo, 60) for turn in plan_turns([A], 50, 60)] == [0]


def test_chunk_without_rows_has_no_span() -> None:
    assert span_of(ChunkMeta("a", "s", 1)) is None
