"""M1: late is what arrives behind a newer row by more than the lateness; nothing else counts."""

from __future__ import annotations

import numpy as np

from moirae.engine.arrival import late_rows, newest_before, watermark_of
from moirae.ports.kernel import NO_WATERMARK


def late(times: list[int], lateness: int, newest_at_start: int = NO_WATERMARK) -> list[bool]:
    at = np.array(times, np.int64)
    found: list[bool] = late_rows(at, newest_before(at), newest_at_start, lateness).tolist()
    return found


def test_a_row_is_late_only_beyond_the_lateness() -> None:
    """M1: exactly the lateness behind is still in time."""
    assert late([100, 90, 89], 10) == [False, False, True]


def test_order_of_arrival_decides_and_not_the_clock() -> None:
    """M1: the same rows, the other way round, are all in time."""
    assert late([0, 50, 100], 10) == [False, False, False]
    assert late([100, 50, 0], 10) == [False, True, True]


def test_a_late_row_makes_no_other_row_late() -> None:
    """M1: only the newest row so far is compared with, and a late row is never the newest."""
    assert late([100, 0, 95, 89], 10) == [False, True, False, True]


def test_without_lateness_equal_times_are_in_time() -> None:
    """M1: a burst of rows with one time is no disorder."""
    assert late([7, 7, 6, 7], 0) == [False, False, True, False]


def test_cutting_a_file_in_two_changes_nothing() -> None:
    """M1: the second part is judged by the newest time of the first."""
    times = [100, 120, 105, 131, 119]
    assert late(times[:2], 10) + late(times[2:], 10, newest_at_start=120) == late(times, 10)


def test_nothing_before_the_first_row_makes_it_late() -> None:
    """M1: not even the oldest time there is, where a subtraction would wrap."""
    assert late([-(2**63) + 1], 10) == [False]
    assert late([], 10) == []


def test_times_before_1970_are_times() -> None:
    """M1: negative microseconds are compared like others."""
    assert late([-100, -110, -111], 10) == [False, False, True]


def test_watermark_is_the_newest_time_less_the_lateness() -> None:
    """M1: and unknown while no row has come."""
    assert watermark_of(100, 10) == 90
    assert watermark_of(NO_WATERMARK, 10) == NO_WATERMARK
