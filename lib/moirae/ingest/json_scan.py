"""JSON lines, byte by byte: which lines are objects, and where in them the values of the known columns stand.

One compiled walk over a block. Every line is checked to its end against the grammar of RFC 8259, unknown keys and what
is nested in them included, but it need not be understood: a line may be declined, never taken wrongly. Declined are
lines with a known key given twice, half of a surrogate pair, nesting beyond 64 levels, and keys that are spelled with
escapes or whose lower case is none of ASCII's.

Every line ends with its newline, which no rule steps over: so nothing looks for the end of the bytes.
"""

from __future__ import annotations

from functools import lru_cache

import numba
import numpy as np

from moirae.ingest.compiled import byte, inlined
from moirae.ingest.lines import I64, Bytes, Lines, Mask
from moirae.ingest.spans import ABSENT, BARE, ESCAPED, NULL, OTHER, QUOTED, Grid, Kinds, Spans
from moirae.model.schema import Schema

_NEWLINE, _RETURN, _TAB, _BLANK = ord("\n"), ord("\r"), ord("\t"), ord(" ")
_QUOTE, _BACKSLASH, _COMMA, _COLON, _U = ord('"'), ord("\\"), ord(","), ord(":"), ord("u")
_OBJECT, _OBJECT_END, _ARRAY, _ARRAY_END = ord("{"), ord("}"), ord("["), ord("]")
_MINUS, _PLUS, _POINT, _ZERO, _NINE = ord("-"), ord("+"), ord("."), ord("0"), ord("9")
_UPPER_A, _UPPER_Z, _CASE = ord("A"), ord("Z"), ord("a") - ord("A")
_TRUE, _FALSE, _NULL = b"true", b"false", b"null"
_KELVIN = "\u212a".encode()[0]  # the one sign beyond ASCII whose lower case is in it
_ASCII = 0x80
_SHORT = np.isin(np.arange(256), list(b'"\\/bfnrt'))  # letters that are an escape behind a backslash
_DEEPEST = 64  # levels of nesting: a bit each

_FAILED = -1  # instead of a place behind what was looked for
_UNKNOWN, _ODD = -1, -2  # instead of a column


def scan(lines: Lines, schema: Schema) -> Spans:
    """The values of the lines that are surely objects of the stream, columns as in the schema."""
    data, bounds = lines.bytes_and_bounds()
    names, name_bounds, plain = _names(schema.names)
    spans = Spans.empty(data, len(schema.columns), len(lines))
    rows = _scan(data, bounds, names, name_bounds, plain, spans.start, spans.stop, spans.kind, spans.taken)
    return spans.first(rows)


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> tuple[Bytes, I64, bool]:
    """The names end to end, where each begins, and whether all are ASCII."""
    encoded = [name.encode() for name in names]
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded) + b"\n", np.uint8), bounds, all(map(str.isascii, names))


@numba.njit(cache=True)
def _scan(
    data: Bytes,
    bounds: I64,
    names: Bytes,
    name_bounds: I64,
    plain: bool,
    start: Grid,
    stop: Grid,
    kind: Kinds,
    taken: Mask,
) -> int:
    """Fill the next row of the spans from each line that is taken, and return how many there are."""
    row = 0
    for line in range(len(bounds) - 1):
        if byte(data, bounds[line + 1] - 1) == _NEWLINE:
            for column in range(len(kind)):
                start[column, row] = stop[column, row] = 0
                kind[column, row] = ABSENT
            taken[line] = _object(data, bounds[line], names, name_bounds, plain, row, start, stop, kind)
        row += taken[line]
    return row


@inlined
def _object(
    data: Bytes,
    at: int,
    names: Bytes,
    name_bounds: I64,
    plain: bool,
    row: int,
    start: Grid,
    stop: Grid,
    kind: Kinds,
) -> bool:
    """Whether the line at `at` is an object; where its known values are goes into the row."""
    at = _blanks(data, at)
    if byte(data, at) != _OBJECT:
        return False
    at, guess = _blanks(data, at + 1), 0
    if byte(data, at) == _OBJECT_END:
        return byte(data, _blanks(data, at + 1)) == _NEWLINE
    while True:
        column, at = _key(data, at, names, name_bounds, plain, guess)
        if column == _ODD:
            return False
        at = _colon(data, at)
        if at == _FAILED:
            return False
        behind, found = _value(data, at)
        if behind == _FAILED:
            return False
        if column != _UNKNOWN:
            if kind[column, row] != ABSENT:
                return False
            quote = 1 if found & (QUOTED | ESCAPED) else 0
            start[column, row], stop[column, row], kind[column, row] = at + quote, behind - quote, found
            guess = column + 1
        at = _blanks(data, behind)
        if byte(data, at) == _OBJECT_END:
            return byte(data, _blanks(data, at + 1)) == _NEWLINE
        if byte(data, at) != _COMMA:
            return False
        at = _blanks(data, at + 1)


@inlined
def _blanks(data: Bytes, at: int) -> int:
    while byte(data, at) <= _BLANK and _is_blank(byte(data, at)):
        at += 1
    return at


@inlined
def _is_blank(sign: int) -> bool:
    return sign in (_BLANK, _TAB, _RETURN)


@inlined
def _key(data: Bytes, at: int, names: Bytes, name_bounds: I64, plain: bool, guess: int) -> tuple[int, int]:
    """The column of the key at `at`, and the place behind it. Programs keep their order, so `guess` is tried first."""
    columns = len(name_bounds) - 1
    for step in range(columns):
        column = guess + step if guess + step < columns else guess + step - columns
        behind = _named(data, at, names, name_bounds[column], name_bounds[column + 1])
        if behind != _FAILED:
            return column, behind
    behind, found = _string(data, at)
    if behind == _FAILED or found == ESCAPED:
        return _ODD, at
    for place in range(at + 1, behind - 1):
        if byte(data, place) == _KELVIN or (byte(data, place) >= _ASCII and not plain):
            return _ODD, at
    return _UNKNOWN, behind


@inlined
def _named(data: Bytes, at: int, names: Bytes, name: int, name_end: int) -> int:
    """The place behind the string at `at` if it is the name in any case of ASCII; names are in lower case."""
    if byte(data, at) != _QUOTE:
        return _FAILED
    at += 1
    while name < name_end:
        if _lower(byte(data, at)) != names[name]:
            return _FAILED
        at, name = at + 1, name + 1
    return at + 1 if byte(data, at) == _QUOTE else _FAILED


@inlined
def _lower(sign: int) -> int:
    return sign + _CASE if _UPPER_A <= sign <= _UPPER_Z else sign


@inlined
def _colon(data: Bytes, at: int) -> int:
    """Where the value begins of the key that ends at `at`."""
    at = _blanks(data, at)
    return _blanks(data, at + 1) if byte(data, at) == _COLON else _FAILED


@inlined
def _value(data: Bytes, at: int) -> tuple[int, int]:
    """The place behind the value at `at`, and its kind."""
    if byte(data, at) == _OBJECT or byte(data, at) == _ARRAY:
        return _nested(data, at), OTHER
    return _scalar(data, at)


@inlined
def _scalar(data: Bytes, at: int) -> tuple[int, int]:
    first = byte(data, at)
    if first == _QUOTE:
        return _string(data, at)
    if first == _MINUS or _ZERO <= first <= _NINE:
        return _number(data, at), BARE
    if first == _TRUE[0]:
        return _word(data, at, _TRUE), BARE
    if first == _FALSE[0]:
        return _word(data, at, _FALSE), BARE
    return _word(data, at, _NULL), NULL


@inlined
def _word(data: Bytes, at: int, word: bytes) -> int:
    for letter in word:
        if byte(data, at) != letter:
            return _FAILED
        at += 1
    return at


@inlined
def _number(data: Bytes, at: int) -> int:
    if byte(data, at) == _MINUS:
        at += 1
    at = at + 1 if byte(data, at) == _ZERO else _digits(data, at)
    if at != _FAILED and byte(data, at) == _POINT:
        at = _digits(data, at + 1)
    if at != _FAILED and (byte(data, at) == ord("e") or byte(data, at) == ord("E")):
        at += 1
        if byte(data, at) == _PLUS or byte(data, at) == _MINUS:
            at += 1
        at = _digits(data, at)
    return at


@inlined
def _digits(data: Bytes, at: int) -> int:
    """The place behind one digit or more."""
    first = at
    while _ZERO <= byte(data, at) <= _NINE:
        at += 1
    return at if at > first else _FAILED


@inlined
def _string(data: Bytes, at: int) -> tuple[int, int]:
    """The place behind the string whose quote is at `at`, and whether it has escapes."""
    if byte(data, at) != _QUOTE:
        return _FAILED, OTHER
    found = QUOTED
    at += 1
    while byte(data, at) != _QUOTE:
        if byte(data, at) < _BLANK:
            return _FAILED, OTHER
        if byte(data, at) == _BACKSLASH:
            found = ESCAPED
            at = _escape(data, at + 1)
            if at == _FAILED:
                return _FAILED, OTHER
        else:
            at += 1
    return at + 1, found


@numba.njit(cache=True)
def _escape(data: Bytes, at: int) -> int:
    """The place behind the escape whose backslash stands before `at`; a surrogate pair is one."""
    if byte(data, at) != _U:
        return at + 1 if _SHORT[byte(data, at)] else _FAILED
    unit = _unit(data, at + 1)
    if unit == _FAILED or 0xDC00 <= unit <= 0xDFFF:
        return _FAILED
    if not 0xD800 <= unit <= 0xDBFF:
        return at + 5
    if byte(data, at + 5) != _BACKSLASH or byte(data, at + 6) != _U:
        return _FAILED
    return at + 11 if 0xDC00 <= _unit(data, at + 7) <= 0xDFFF else _FAILED


@numba.njit(cache=True)
def _unit(data: Bytes, at: int) -> int:
    """What four hexadecimal digits say."""
    unit = 0
    for place in range(at, at + 4):
        lower = _lower(byte(data, place))
        if _ZERO <= lower <= _NINE:
            unit = unit * 16 + lower - _ZERO
        elif ord("a") <= lower <= ord("f"):
            unit = unit * 16 + lower - ord("a") + 10
        else:
            return _FAILED
    return unit


@numba.njit(cache=True)
def _nested(data: Bytes, at: int) -> int:
    """The place behind the array or object at `at`. Of each open level, `objects` has a bit, the innermost lowest."""
    objects, depth = np.uint64(0), 0
    while True:
        opens = byte(data, at) == _OBJECT or byte(data, at) == _ARRAY
        if opens:
            if depth == _DEEPEST:
                return _FAILED
            objects = (objects << np.uint64(1)) | np.uint64(byte(data, at) == _OBJECT)
            depth += 1
            at += 1
        else:
            at, _ = _scalar(data, at)
            if at == _FAILED:
                return _FAILED
        at = _blanks(data, at)
        complete = not opens
        while byte(data, at) == (_OBJECT_END if objects & np.uint64(1) else _ARRAY_END):
            objects >>= np.uint64(1)
            depth -= 1
            at += 1
            if depth == 0:
                return at
            at, complete = _blanks(data, at), True
        if complete:
            if byte(data, at) != _COMMA:
                return _FAILED
            at = _blanks(data, at + 1)
        if objects & np.uint64(1):
            at, _ = _string(data, at)
            if at != _FAILED:
                at = _colon(data, at)
            if at == _FAILED:
                return _FAILED
