"""M1: the exact set of values behind count(DISTINCT …)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from moirae.windows.distinct import DistinctSet


def added(kept: DistinctSet, *triples: tuple[int, int, str | None]) -> DistinctSet:
    """With (pane, key, value) of each row."""
    pane, key = (np.array([triple[place] for triple in triples], np.int64) for place in (0, 1))
    return kept.add(pane, key, pa.array([value for _, _, value in triples], pa.string()))


def count(kept: DistinctSet, first: int, end: int, *keys: int) -> list[int]:
    found: list[int] = kept.count(first, end, np.array(keys, np.int64)).tolist()
    return found


SET = added(DistinctSet.start(), (0, 0, "a"), (0, 0, "a"), (0, 1, "b"), (1, 0, "a"), (1, 0, "c"), (2, 0, None))


def test_a_value_counts_once_in_a_span_of_panes() -> None:
    """M1: in each pane, and in panes together; keys do not mix, NULL is no value."""
    assert count(SET, 0, 1, 0, 1) == [1, 1]
    assert count(SET, 1, 2, 0, 1) == [2, 0]
    assert count(SET, 0, 2, 0, 1) == [2, 1]
    assert count(SET, 2, 3, 0, 1) == [0, 0]


def test_rows_that_come_later_join_the_same_set() -> None:
    """M1: a word once known keeps its code."""
    later = added(SET, (1, 0, "c"), (1, 0, "d"), (1, 1, "c"))
    assert count(later, 1, 2, 0, 1) == [3, 1]
    assert later.words.to_pylist() == ["a", "b", "c", "d"]


def test_dropped_panes_take_their_words_along() -> None:
    """M1: at the latest when the unused ones are the greater part."""
    crowd = added(SET, *((0, 0, f"word {number}") for number in range(100)))
    kept = crowd.drop_before(1)
    assert kept.words.to_pylist() == ["a", "c"]
    assert count(kept, 1, 2, 0) == [2]
    assert kept.drop_before(5).words.to_pylist() == []


def test_compacting_changes_no_count() -> None:
    """M1: codes are renumbered, values stay apart."""
    kept = DistinctSet(SET.pane[2:], SET.key[2:], SET.value[2:], SET.words).compact()
    assert kept.words.to_pylist() == ["a", "c"]
    assert count(kept, 1, 2, 0) == [2]


def test_a_set_follows_its_renumbered_keys() -> None:
    """M1: key 0 becomes key 1 and the other way round."""
    assert count(SET.rekey(np.array([1, 0], np.int32)), 0, 2, 0, 1) == [1, 2]
