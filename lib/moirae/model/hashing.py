"""Hashes that are the same on every machine, in every process and in every release: buckets and event ids rest on them.

XXH64 over the bytes of Arrow strings, one compiled loop over the column's own buffers.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

_P1, _P2, _P3 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
_P4, _P5 = np.uint64(0x85EBCA77C2B2AE63), np.uint64(0x27D4EB2F165667C5)


def hash_strings(strings: pa.Array, seed: int = 0) -> npt.NDArray[np.uint64]:
    """XXH64 of each string's UTF-8 bytes; a null hashes as the empty string.

    >>> [f"{h:016x}" for h in hash_strings(pa.array(["", "abc", "x" * 40]))]
    ['ef46db3751d8e999', '44bc2cf5ad770999', '926f564e1b3e18d5']
    """
    array = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    array = (array.fill_null("") if array.null_count else array).cast(pa.large_string())
    if len(array) == 0:
        return np.empty(0, np.uint64)
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return np.asarray(_hash_all(text, starts, np.uint64(seed)))


def hex_ids(strings: pa.Array) -> pa.Array:
    """A 128-bit id of each string, as 32 hex digits: unique for all practical purposes, and reproducible.

    >>> hex_ids(pa.array(["abc"])).to_pylist()
    ['44bc2cf5ad770999bea9ca8199328908']
    """
    halves = np.column_stack([hash_strings(strings), hash_strings(strings, 1)]).astype(">u8")
    raw = np.frombuffer(halves.tobytes(), np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.column_stack([digits[raw >> 4], digits[raw & 15]]).tobytes()
    offsets = np.arange(0, len(text) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))


def real_bits(values: pa.Array) -> npt.NDArray[np.int64]:
    """A whole number for each DOUBLE, equal for equal ones: 0.0 and -0.0 are one value, and so are all NaNs.

    >>> real_bits(pa.array([0.0, -0.0, 1.0])).tolist()
    [0, 0, 4607182418800017408]
    """
    reals = np.asarray(values.fill_null(0.0)) + 0.0
    reals[np.isnan(reals)] = np.nan
    return reals.view(np.int64)


@numba.njit(cache=True)
def _rotate(value: np.uint64, bits: int) -> np.uint64:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@numba.njit(cache=True)
def _word(text: npt.NDArray[np.uint8], at: int, width: int) -> np.uint64:
    value = np.uint64(0)
    for i in range(width):
        value |= np.uint64(text[at + i]) << np.uint64(8 * i)
    return value


@numba.njit(cache=True)
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _rotate(lane + word * _P2, 31) * _P1


@numba.njit(cache=True)
def _hash_one(text: npt.NDArray[np.uint8], start: int, stop: int, seed: np.uint64) -> np.uint64:
    at = start
    if stop - start >= 32:
        a, b, c, d = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + 32 <= stop:
            a, b = _round(a, _word(text, at, 8)), _round(b, _word(text, at + 8, 8))
            c, d = _round(c, _word(text, at + 16, 8)), _round(d, _word(text, at + 24, 8))
            at += 32
        value = _rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)
        for lane in (a, b, c, d):
            value = (value ^ _round(np.uint64(0), lane)) * _P1 + _P4
    else:
        value = seed + _P5
    value += np.uint64(stop - start)
    while at + 8 <= stop:
        value = _rotate(value ^ _round(np.uint64(0), _word(text, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= stop:
        value = _rotate(value ^ (_word(text, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < stop:
        value = _rotate(value ^ (np.uint64(text[at]) * _P5), 11) * _P1
        at += 1
    value = (value ^ (value >> np.uint64(33))) * _P2
    value = (value ^ (value >> np.uint64(29))) * _P3
    return value ^ (value >> np.uint64(32))


@numba.njit(cache=True)
def _hash_all(text: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], seed: np.uint64) -> npt.NDArray[np.uint64]:
    hashes = np.empty(len(starts) - 1, np.uint64)
    for i in range(len(hashes)):
        hashes[i] = _hash_one(text, starts[i], starts[i + 1], seed)
    return hashes
