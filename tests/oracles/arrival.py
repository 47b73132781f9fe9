"""The obvious way to say which rows are late, and what an event is called: from the published algorithm, in Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

_MASK = (1 << 64) - 1
_P1, _P2, _P3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
_P4, _P5 = 9650029242287828579, 2870177450012600261


def late(times: Sequence[int], lateness: int) -> list[bool]:
    """In order of arrival: a row is late if it lies more than the lateness below the newest row before it."""
    return [any(at < before - lateness for before in times[:i]) for i, at in enumerate(times)]


def positions(lengths: Sequence[int]) -> list[int]:
    """Of each row of files of these lengths: the file's number, then the line."""
    return [(file << 32) + line for file, length in enumerate(lengths) for line in range(1, length + 1)]


def eid(query: str, version: int, key: str, identity: int) -> str:
    text = f"{query}\x1e{version}\x1e\x1e{key}\x1e{identity}".encode()
    return f"{xxh64(text, 0):016x}{xxh64(text, 1):016x}"


def key_text(values: Sequence[Any]) -> str:
    """One text for a partition key: NULL, separator and escape cannot be mistaken for data."""
    return "\x1f".join(map(_spelled, values))


def _spelled(value: Any) -> str:
    if value is None:
        return "\x00"
    if isinstance(value, str):
        return value.replace("\x01", "\x01e").replace("\x00", "\x01n").replace("\x1f", "\x01s")
    if isinstance(value, bool):
        return str(value).lower()
    return str(_bits(value)) if isinstance(value, float) else str(value)


def _bits(value: float) -> int:
    """The number's eight bytes as a whole number; NaN has one spelling, and zero no sign."""
    bits: int = struct.unpack("<q", struct.pack("<d", math.nan if math.isnan(value) else value + 0.0))[0]
    return bits


def xxh64(data: bytes, seed: int = 0) -> int:
    value, rest = _stripes(data, seed) if len(data) >= 32 else ((seed + _P5) & _MASK, data)
    value = (value + len(data)) & _MASK
    while len(rest) >= 8:
        value = (_rotate(value ^ _round(0, _number(rest[:8])), 27) * _P1 + _P4) & _MASK
        rest = rest[8:]
    if len(rest) >= 4:
        value = (_rotate(value ^ (_number(rest[:4]) * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        rest = rest[4:]
    for byte in rest:
        value = _rotate(value ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32


def _stripes(data: bytes, seed: int) -> tuple[int, bytes]:
    lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK]
    while len(data) >= 32:
        lanes = [_round(lane, _number(data[8 * i : 8 * i + 8])) for i, lane in enumerate(lanes)]
        data = data[32:]
    value = sum(_rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
    for lane in lanes:
        value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return value, data


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
