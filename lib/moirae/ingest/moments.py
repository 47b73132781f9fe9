"""Times in landing files: ISO 8601 with T or a blank, seconds and their fraction optional, UTC where no zone is said.

A date alone is its midnight. Digits beyond microseconds are cut off, as CAST does. The year is 1 to 9999, as written
and in UTC, so that every tool behind can show it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.vector import times

# Months too long by a day or three are left to the calendar.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DATE = _YEAR + r"-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-8])(?::?[0-5][0-9])?)?"
_SHAPE = re.compile(f"{_DATE}(?:[T ]{_CLOCK}{_ZONE})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FIRST_US = -62_135_596_800_000_000  # 0001-01-01
LAST_US = 253_402_300_799_999_999  # 9999-12-31 and its last microsecond
_ZONED = pa.timestamp("us", tz="UTC")


def moment(text: str) -> int | None:
    """Microseconds since the epoch, or None for a text that is no time.

    >>> moment("1970-01-01T00:00:01.5Z"), moment("1970-01-01 01:00+01:00"), moment("1970-02-30")
    (1500000, 0, None)
    """
    if not _SHAPE.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    at = (zoned - _EPOCH) // _MICROSECOND
    return at if FIRST_US <= at <= LAST_US else None


def spell(at: pa.Array) -> pa.Array:
    """Times as messages show them.

    >>> spell(pa.array([0, 1_500_000]).cast(pa.timestamp("us", "UTC"))).to_pylist()
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:01.5Z']
    """
    return pc.binary_join_element_wise(pc.replace_substring(times.spell(at), " ", "T"), "Z", "")


def spell_one(at_us: int) -> str:
    shown: str = spell(pa.array([np.int64(at_us)]).cast(_ZONED))[0].as_py()
    return shown
