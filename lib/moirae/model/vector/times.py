"""Times: microseconds since the epoch in UTC; a text that is no time is NULL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.vector.convert import Numbers, Value, array, numbers

TRUNCATE = {
    "microsecond": "microsecond",
    "millisecond": "millisecond",
    "second": "second",
    "minute": "minute",
    "hour": "hour",
    "day": "day",
    "dd": "day",
    "week": "week",
    "month": "month",
    "mon": "month",
    "mm": "month",
    "quarter": "quarter",
    "year": "year",
    "yyyy": "year",
    "yy": "year",
}
_TIMESTAMP = pa.timestamp("us", tz="UTC")
_NAIVE = pa.timestamp("us")
_ISO = (
    r"^[\x00-\x20]*(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})(?:[ T]"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{0,9}))?)?"
    r"[ ]?(?P<zone>Z|UTC|GMT|(?P<sign>[+-])(?P<zone_hour>\d{1,2})(?::?(?P<zone_minute>\d{2}))?)?)?)?)?[\x00-\x20]*$"
)
_PARTS = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "zone_hour": 0, "zone_minute": 0}


def part(function: Callable[..., Any], **options: Any) -> Callable[[Value], Value]:
    """A field of the time, as INT."""

    def apply(value: Value) -> Value:
        return pc.cast(function(pc.cast(value, _NAIVE), **options), pa.int32())

    return apply


def truncate(unit: Value, value: Value) -> Value:
    """date_trunc; weeks begin on Monday."""
    floor = pc.floor_temporal(pc.cast(value, _NAIVE), unit=TRUNCATE[unit.as_py().lower()])
    return pc.cast(pc.cast(floor, pa.int64()), _TIMESTAMP)


def unix_seconds(value: Value) -> Value:
    """Whole seconds towards the epoch, as Spark has it; CAST(… AS BIGINT) goes down instead."""
    micros, valid = numbers(value, len(value))
    return array((micros - np.fmod(micros, 1_000_000)) // 1_000_000, valid, pa.int64())


def parse(text: Value) -> Value:
    """The time a text spells: yyyy[-mm[-dd[ hh:mm[:ss[.ffffff]]]]] with an optional zone; NULL if it spells none."""
    fields = pc.extract_regex(text, _ISO)
    found = fields.is_valid().to_numpy(zero_copy_only=False)
    parts = {name: _field(fields, name, default) for name, default in _PARTS.items()}
    months = ((parts["year"] - 1970) * 12 + parts["month"] - 1).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    next_first = (months + np.timedelta64(1, "M")).astype("datetime64[D]").astype(np.int64)
    found &= _between(parts["month"], 1, 12) & (parts["day"] >= 1) & (parts["day"] <= next_first - first)
    found &= _between(parts["hour"], 0, 23) & _between(parts["minute"], 0, 59) & _between(parts["second"], 0, 59)
    found &= _between(parts["zone_hour"], 0, 18) & _between(parts["zone_minute"], 0, 59)
    seconds = (first + parts["day"] - 1) * 86_400 + parts["hour"] * 3_600 + parts["minute"] * 60 + parts["second"]
    sign = np.where(pc.equal(_text(fields, "sign"), "-").to_numpy(zero_copy_only=False), -1, 1)
    seconds -= sign * (parts["zone_hour"] * 3_600 + parts["zone_minute"] * 60)
    return array(seconds * 1_000_000 + _fraction(fields), found, _TIMESTAMP)


def _between(values: Numbers, low: int, high: int) -> Numbers:
    result: Numbers = (values >= low) & (values <= high)
    return result


def _text(fields: Value, name: str) -> Value:
    return pc.fill_null(pc.struct_field(fields, name), "")


def _field(fields: Value, name: str, default: int) -> Numbers:
    text = _text(fields, name)
    filled = pc.if_else(pc.equal(text, ""), str(default), text)
    values: Numbers = pc.cast(filled, pa.int64()).to_numpy(zero_copy_only=False).copy()
    return values


def _fraction(fields: Value) -> Numbers:
    """Microseconds; further digits are cut off."""
    padded = pc.utf8_slice_codeunits(pc.utf8_rpad(_text(fields, "fraction"), 6, "0"), 0, 6)
    values: Numbers = pc.cast(padded, pa.int64()).to_numpy(zero_copy_only=False)
    return values


def spell(value: Value) -> Value:
    """yyyy-MM-dd HH:mm:ss, with as many decimals as there are."""
    text = pc.strftime(pc.cast(value, _NAIVE), format="%Y-%m-%d %H:%M:%S")
    short = pc.replace_substring_regex(text, pattern=r"\.0+$", replacement="")
    return pc.replace_substring_regex(short, pattern=r"(\.\d*[1-9])0+$", replacement=r"\1")
