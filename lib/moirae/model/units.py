"""Durations and sizes as people write them: the unit stands in the value."""

from __future__ import annotations

import re

_MICROS = {
    "microsecond": 1,
    "us": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": 1_000_000,
    "s": 1_000_000,
    "minute": 60_000_000,
    "min": 60_000_000,
    "m": 60_000_000,
    "hour": 3_600_000_000,
    "h": 3_600_000_000,
    "day": 86_400_000_000,
    "d": 86_400_000_000,
    "week": 604_800_000_000,
    "w": 604_800_000_000,
}
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BYTES |= {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def parse_duration(text: str) -> int:
    """Microseconds of '5 minutes', '90s', '1 day 12 hours'.

    >>> parse_duration("5 minutes"), parse_duration("1 day 12h"), parse_duration("0.5 s")
    (300000000, 129600000000, 500000)
    >>> parse_duration("5 parsecs")
    Traceback (most recent call last):
    ...
    ValueError: '5 parsecs' is not a duration; write a number and a unit, such as '5 minutes' or '30 days'
    """
    parts = re.findall(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)", text)
    micros = [_micros_of(unit) for _, unit in parts]
    rest = re.sub(r"\s*\d+(?:\.\d+)?\s*[A-Za-z]+", "", text).strip()
    if not parts or rest or None in micros:
        message = f"'{text}' is not a duration; write a number and a unit, such as '5 minutes' or '30 days'"
        raise ValueError(message)
    return sum(round(float(number) * unit) for (number, _), unit in zip(parts, micros, strict=True) if unit)


def _micros_of(unit: str) -> int | None:
    name = unit.lower()
    return _MICROS.get(name) or _MICROS.get(name.removesuffix("s"))


def show_duration(micros: int) -> str:
    """The shortest exact spelling.

    >>> show_duration(300_000_000), show_duration(86_400_000_000), show_duration(90_000_000), show_duration(0)
    ('5 minutes', '1 day', '90 seconds', '0 seconds')
    """
    for name in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond"):
        unit = _MICROS[name]
        if name != "week" and micros and micros % unit == 0:
            count = micros // unit
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "0 seconds"


def parse_size(text: str) -> int:
    """Bytes of '128 MiB'.

    >>> parse_size("128 MiB"), parse_size("1 GB"), parse_size("512 B")
    (134217728, 1000000000, 512)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    units = {name.lower(): factor for name, factor in _BYTES.items()}
    if not found or found[2].lower() not in units:
        raise ValueError(f"'{text}' is not a size; write a number and a unit, such as '128 MiB'")
    return round(float(found[1]) * units[found[2].lower()])


def show_size(size: int) -> str:
    """
    >>> show_size(134217728), show_size(1536), show_size(10)
    ('128.0 MiB', '1.5 KiB', '10 B')
    """
    for name in ("TiB", "GiB", "MiB", "KiB"):
        if size >= _BYTES[name]:
            return f"{size / _BYTES[name]:.1f} {name}"
    return f"{size} B"
