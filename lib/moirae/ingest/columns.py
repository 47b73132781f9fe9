"""Arrow columns of values that stand as texts in a block, without a step per row.

A text that is no value of its column's type, or none of the usual ones, is declined together with its row: what is read
here is surely read right.
"""

from __future__ import annotations

from collections.abc import Mapping

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moirae.ingest.compiled import inlined
from moirae.ingest.lines import I64, Bytes, Lines, Mask
from moirae.ingest.moment_scan import read_moments
from moirae.ingest.reader import file_schema
from moirae.ingest.spans import DOUBLED, ESCAPED, NULL, Kinds, Spans
from moirae.model.query import StreamDef
from moirae.model.schema import Type

Reals = npt.NDArray[np.float64]

_QUOTE, _BACKSLASH, _U = ord('"'), ord("\\"), ord("u")
_MINUS, _PLUS, _POINT, _ZERO, _NINE, _E, _CASE = ord("-"), ord("+"), ord("."), ord("0"), ord("9"), ord("e"), 0x20
# Never more digits than surely fit: longer numbers are looked at one by one.
_INT_DIGITS, _BIGINT_DIGITS, _REAL_DIGITS, _EXPONENT_DIGITS = 9, 18, 24, 2
_EXACT_DIGITS, _MOST_POWER = 15, 22  # fewer than 2**53, and 5**22 is: whole numbers that a DOUBLE can hold
_POWERS = np.array([float(f"1e{power}") for power in range(_MOST_POWER + 1)])
_MOST_TEXT = np.iinfo(np.int32).max  # bytes in one Arrow string column
_FAILED = -1

_LETTERS = np.zeros(256, np.uint8)  # what the letter behind a backslash stands for
_LETTERS[list(b'"\\/bfnrt')] = list(b'"\\/\b\f\n\r\t')
_HEX = np.zeros(256, np.int64)
_HEX[list(b"0123456789abcdef")] = range(16)
_HEX[list(b"ABCDEF")] = range(10, 16)


def rows_of(stream: StreamDef, lines: Lines, spans: Spans, kinds: Mapping[Type, int]) -> tuple[pa.Table, Lines]:
    """The rows of the lines that were taken, and the other lines. `kinds` are those a type's values stand in."""
    number = lines.number[spans.taken]
    good = np.ones(len(number), np.bool_)
    columns = []
    for place, column in enumerate(stream.schema):
        fits = (spans.kind[place] & kinds[column.type]) > 0
        columns.append(_column(column.type, spans, place, fits))
        good &= fits if column.name == stream.time else fits | (spans.kind[place] <= NULL)
    rows = pa.Table.from_arrays([*columns, pa.array(number)], schema=file_schema(stream.schema))
    taken = spans.taken
    if not good.all():
        rows, taken = rows.filter(pa.array(good)), taken.copy()
        taken[taken] = good
    return rows, lines.keep(~taken)


def _column(type_: Type, spans: Spans, place: int, fits: Mask) -> pa.Array:
    """The values where the spans fit, else NULL. Texts that are no values fit no longer."""
    texts = spans.data, spans.start[place], spans.stop[place]
    if type_ is Type.STRING:
        return _strings(*_joined(*texts, spans.kind[place], fits), fits)
    if type_ is Type.DOUBLE:
        exact = np.zeros(len(fits), np.bool_)
        values = _reals(*texts, fits, exact)
        others = fits & ~exact
        if others.any():
            found = _strings(*_joined(*texts, spans.kind[place], others), others)
            values[others] = found.drop_null().cast(type_.arrow).to_numpy()
        return _masked(values, type_, fits)
    if type_ is Type.BOOLEAN:
        return _masked(_truths(*texts, fits), type_, fits)
    if type_ is Type.TIMESTAMP:
        return _masked(read_moments(*texts, fits), Type.BIGINT, fits).cast(type_.arrow)
    return _masked(_integers(*texts, fits, _INT_DIGITS if type_ is Type.INT else _BIGINT_DIGITS), type_, fits)


def _masked(values: npt.NDArray[np.generic], type_: Type, fits: Mask) -> pa.Array:
    return pa.array(values, type_.arrow, mask=None if fits.all() else ~fits)


def _strings(offsets: npt.NDArray[np.int32], text: Bytes, fits: Mask) -> pa.Array:
    valid = None if fits.all() else pa.array(fits).buffers()[1]
    return pa.Array.from_buffers(pa.string(), len(fits), [valid, pa.py_buffer(offsets), pa.py_buffer(text)])


@numba.njit(cache=True)
def _truths(data: Bytes, start: I64, stop: I64, fits: Mask) -> Mask:
    """Whether the texts say true, in any case; those that do not say false either fit no longer."""
    values = np.zeros(len(fits), np.bool_)
    for row in range(len(fits)):
        if fits[row]:
            values[row] = _says(data, start[row], stop[row], b"true")
            fits[row] = values[row] or _says(data, start[row], stop[row], b"false")
    return values


@inlined
def _says(data: Bytes, at: int, end: int, word: bytes) -> bool:
    if end - at != len(word):
        return False
    for letter in word:
        if data[at] | _CASE != letter:
            return False
        at += 1
    return True


@numba.njit(cache=True)
def _integers(data: Bytes, start: I64, stop: I64, fits: Mask, most: int) -> I64:
    """The whole numbers; texts that are none, or have more than so many digits, fit no longer."""
    values = np.zeros(len(fits), np.int64)
    for row in range(len(fits)):
        if fits[row]:
            minus = data[start[row]] == _MINUS
            behind, value = _digits(data, start[row] + minus, stop[row], most, 0)
            fits[row] = behind == stop[row]
            values[row] = -value if minus else value
    return values


@inlined
def _digits(data: Bytes, at: int, end: int, most: int, value: int) -> tuple[int, int]:
    """The place behind one digit or more, but no more than so many, and what they say behind those of `value`."""
    first = at
    while at < end and _ZERO <= data[at] <= _NINE:
        value = value * 10 + data[at] - _ZERO
        at += 1
    return at if first < at <= first + most else _FAILED, value


@numba.njit(cache=True)
def _reals(data: Bytes, start: I64, stop: I64, fits: Mask, exact: Mask) -> Reals:
    """The numbers that are `exact`. Texts that are none as programs write them, or too long, fit no longer.

    If the digits without their point and the power of ten are whole numbers that a DOUBLE can hold, one division or
    product of them is rounded once, so it is the nearest to what is written (Clinger, 1990).
    """
    values = np.zeros(len(fits), np.float64)
    for row in range(len(fits)):
        if fits[row]:
            minus = data[start[row]] == _MINUS
            behind, short, digits, power = _real(data, start[row] + minus, stop[row])
            fits[row] = behind == stop[row]
            exact[row] = fits[row] and short and -_MOST_POWER <= power <= _MOST_POWER
            if exact[row]:
                value = digits / _POWERS[-power] if power < 0 else digits * _POWERS[power]
                values[row] = -value if minus else value
    return values


@inlined
def _real(data: Bytes, at: int, end: int) -> tuple[int, bool, int, int]:
    """The place behind the number, whether its digits are few, what they say without a point, and the power of ten."""
    first, power = at, 0
    at, digits = _digits(data, at, end, _REAL_DIGITS, 0)
    if at != _FAILED and at < end and data[at] == _POINT:
        point = at + 1
        at, digits = _digits(data, point, end, _REAL_DIGITS, digits)
        power = point - at
    short = at - first <= _EXACT_DIGITS
    if at != _FAILED and at < end and data[at] | _CASE == _E:
        minus = data[at + 1] == _MINUS
        signed = minus or data[at + 1] == _PLUS
        at, exponent = _digits(data, at + 1 + signed, end, _EXPONENT_DIGITS, 0)
        power += -exponent if minus else exponent
    return at, short, digits, power


@numba.njit(cache=True)
def _joined(data: Bytes, start: I64, stop: I64, kind: Kinds, fits: Mask) -> tuple[npt.NDArray[np.int32], Bytes]:
    """The texts that fit end to end, and where each begins: the buffers of a column of strings."""
    size = 0
    for row in range(len(fits)):
        size += stop[row] - start[row] if fits[row] else 0
    if size > _MOST_TEXT:
        fits[:] = False
        size = 0
    text, offsets = np.empty(size, np.uint8), np.empty(len(fits) + 1, np.int32)
    at = 0
    for row in range(len(fits)):
        offsets[row] = at
        if not fits[row]:
            continue
        if kind[row] == ESCAPED:
            at = _put_escaped(data, start[row], stop[row], text, at)
        elif kind[row] == DOUBLED:
            at = _put_doubled(data, start[row], stop[row], text, at)
        else:
            for place in range(start[row], stop[row]):
                text[at] = data[place]
                at += 1
    offsets[-1] = at
    return offsets, text


@numba.njit(cache=True)
def _put_doubled(data: Bytes, place: int, end: int, text: Bytes, at: int) -> int:
    while place < end:
        text[at] = data[place]
        place += 2 if data[place] == _QUOTE else 1
        at += 1
    return at


@numba.njit(cache=True)
def _put_escaped(data: Bytes, place: int, end: int, text: Bytes, at: int) -> int:
    """Escapes were checked by the scanner: halves of surrogate pairs have their others."""
    while place < end:
        if data[place] != _BACKSLASH:
            text[at] = data[place]
            place, at = place + 1, at + 1
        elif data[place + 1] != _U:
            text[at] = _LETTERS[data[place + 1]]
            place, at = place + 2, at + 1
        else:
            code = _unit(data, place + 2)
            place += 6
            if 0xD800 <= code < 0xDC00:
                code = 0x10000 + ((code - 0xD800) << 10) + _unit(data, place + 2) - 0xDC00
                place += 6
            at = _put_code(code, text, at)
    return at


@inlined
def _unit(data: Bytes, at: int) -> int:
    """What four hexadecimal digits say."""
    unit: int = _HEX[data[at]] << 12 | _HEX[data[at + 1]] << 8 | _HEX[data[at + 2]] << 4 | _HEX[data[at + 3]]
    return unit


@numba.njit(cache=True)
def _put_code(code: int, text: Bytes, at: int) -> int:
    """A code point in UTF-8: never longer than its escape."""
    if code < 0x80:
        text[at] = code
        return at + 1
    more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    text[at] = (0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more
    for i in range(1, more + 1):
        text[at + i] = 0x80 | code >> 6 * (more - i) & 0x3F
    return at + more + 1
