"""Times in a block, read by one compiled loop: the same language and values as in `moments`, for many at once."""

from __future__ import annotations

import numba
import numpy as np

from moirae.ingest.compiled import byte, inlined
from moirae.ingest.lines import I64, Bytes, Mask
from moirae.ingest.moments import FIRST_US, LAST_US

_MINUS, _PLUS, _COLON, _POINT, _BLANK = ord("-"), ord("+"), ord(":"), ord("."), ord(" ")
_T, _Z, _ZERO, _NINE = ord("T"), ord("Z"), ord("0"), ord("9")
_DATE, _SHORTEST = len("yyyy-mm-dd"), len("yyyy-mm-ddThh:mm")
_SECOND_US = 1_000_000
_UNITS = np.array([100_000, 10_000, 1_000, 100, 10, 1, 0, 0, 0])  # microseconds, by decimal
_NONE = np.iinfo(np.int64).min


@numba.njit(cache=True)
def read_moments(data: Bytes, start: I64, stop: I64, fits: Mask) -> I64:
    """Microseconds since the epoch; texts that are no times fit no longer."""
    values = np.zeros(len(fits), np.int64)
    for row in range(len(fits)):
        if fits[row]:
            found = _moment(data, start[row], stop[row])
            fits[row] = found != _NONE
            values[row] = found if fits[row] else 0
    return values


@inlined
def _moment(data: Bytes, at: int, end: int) -> int:
    size = end - at
    if size != _DATE and size < _SHORTEST:
        return _NONE
    days, clock = _days(data, at), 0
    if size != _DATE:
        if byte(data, at + _DATE) != _T and byte(data, at + _DATE) != _BLANK:
            return _NONE
        clock = _clock(data, at + _DATE + 1, end)
    found = days * 86_400 * _SECOND_US + clock
    return found if _NONE not in (days, clock) and FIRST_US <= found <= LAST_US else _NONE


@inlined
def _days(data: Bytes, at: int) -> int:
    """Days from the epoch to yyyy-mm-dd."""
    century, year, month, day = _pair(data, at), _pair(data, at + 2), _pair(data, at + 5), _pair(data, at + 8)
    if byte(data, at + 4) != _MINUS or byte(data, at + 7) != _MINUS or century < 0 or year < 0:
        return _NONE
    year += century * 100
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
        return _NONE
    # Years that begin in March have their leap day at the end, so one formula counts the days before any month.
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day - 719_469


@inlined
def _month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 + (month + month // 8) % 2


@inlined
def _clock(data: Bytes, at: int, end: int) -> int:
    """Microseconds of hh:mm[:ss[.fraction]] and of the zone behind it."""
    hour, minute, second, fraction = _pair(data, at), _pair(data, at + 3), 0, 0
    if not 0 <= hour <= 23 or not 0 <= minute <= 59 or byte(data, at + 2) != _COLON:
        return _NONE
    at += 5
    if at + 3 <= end and byte(data, at) == _COLON:
        second = _pair(data, at + 1)
        at += 3
        if at < end and byte(data, at) == _POINT:
            at, fraction = _fraction(data, at + 1, end)
    zone = _zone(data, at, end)
    if zone == _NONE or fraction < 0 or not 0 <= second <= 59:
        return _NONE
    return ((hour * 60 + minute - zone) * 60 + second) * _SECOND_US + fraction


@inlined
def _fraction(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The place behind one to nine digits, and the microseconds they are; finer ones are cut off."""
    first, value = at, 0
    while at < end and at < first + len(_UNITS) and _ZERO <= byte(data, at) <= _NINE:
        value += (byte(data, at) - _ZERO) * _UNITS[at - first]
        at += 1
    return at, value if at > first else -1


@inlined
def _zone(data: Bytes, at: int, end: int) -> int:
    """Minutes that the clock is ahead of UTC."""
    size = end - at
    if size == 0 or (size == 1 and byte(data, at) == _Z):
        return 0
    if not (size in (3, 5) or (size == 6 and byte(data, at + 3) == _COLON)):
        return _NONE
    hours, minutes = _pair(data, at + 1), 0 if size == 3 else _pair(data, end - 2)
    if (byte(data, at) != _PLUS and byte(data, at) != _MINUS) or not 0 <= hours <= 18 or not 0 <= minutes <= 59:
        return _NONE
    zone = hours * 60 + minutes
    return -zone if byte(data, at) == _MINUS else zone


@inlined
def _pair(data: Bytes, at: int) -> int:
    """What two digits say; -1 if they are none."""
    tens, ones = byte(data, at) - _ZERO, byte(data, at + 1) - _ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -1
