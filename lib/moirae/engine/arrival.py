"""Which rows come too late.

A row is late if its time lies more than the stream's lateness below the newest time of the rows that arrived before
it. This depends on the order of arrival alone, not on how arrival was cut into batches or files: so a replay, a restart
and all engines agree about every single row.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from moirae.ports.kernel import NO_WATERMARK

Times = npt.NDArray[np.int64]


def newest_before(at: Times) -> Times:
    """For each row the newest time among the rows before it.

    >>> newest_before(np.array([5, 3, 9, 4])).tolist() == [NO_WATERMARK, 5, 5, 9]
    True
    """
    before = np.empty(len(at), np.int64)
    if len(at):
        before[0] = NO_WATERMARK
        before[1:] = np.maximum.accumulate(at)[:-1]
    return before


def late_rows(at: Times, before: Times, newest_at_start: int, lateness_us: int) -> npt.NDArray[np.bool_]:
    """Which rows are late, given the newest time of everything that arrived before the first of them.

    >>> at = np.array([100, 89, 90, 120, 95])
    >>> late_rows(at, newest_before(at), NO_WATERMARK, 10).tolist()
    [False, True, False, False, True]
    >>> late_rows(at, newest_before(at), 105, 10).tolist()
    [False, True, True, False, True]
    """
    newest = np.maximum(before, newest_at_start)
    known = newest != NO_WATERMARK
    return np.asarray(known & (at < np.where(known, newest, 0) - lateness_us))


def watermark_of(newest: int, lateness_us: int) -> int:
    """No row below this time will be taken any more."""
    return newest if newest == NO_WATERMARK else newest - lateness_us
