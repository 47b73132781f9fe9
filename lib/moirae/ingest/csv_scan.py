"""CSV, byte by byte: which lines are records of so many fields, and where the fields of the known columns stand.

One compiled walk over a block, with the same rules as the careful way. A last line without its newline is declined, so
that there is always a byte behind a field.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from moirae.ingest.compiled import byte, inlined
from moirae.ingest.lines import I64, Bytes, Lines, Mask
from moirae.ingest.spans import ABSENT, BARE, DOUBLED, NULL, QUOTED, Grid, Kinds, Spans
from moirae.model.schema import Schema, Type

_NEWLINE, _RETURN, _TAB, _BLANK, _QUOTE, _COMMA = (ord(sign) for sign in '\n\r\t ",')
_FAILED = -1
_UNKNOWN = -1


def scan(lines: Lines, names: Sequence[str], schema: Schema) -> Spans:
    """The fields of the lines that are surely records below these names, columns as in the schema."""
    data, bounds = lines.bytes_and_bounds()
    known = {name: column for column, name in enumerate(schema.names)}
    columns = np.array([known.get(name, _UNKNOWN) for name in names], np.int64)
    bare = np.array([column.type is not Type.STRING for column in schema], np.bool_)
    spans = Spans.empty(data, len(known), len(lines))
    return spans.first(_scan(data, bounds, columns, bare, spans.start, spans.stop, spans.kind, spans.taken))


@numba.njit(cache=True)
def _scan(data: Bytes, bounds: I64, columns: I64, bare: Mask, start: Grid, stop: Grid, kind: Kinds, taken: Mask) -> int:
    """Fill the next row of the spans from each line that is taken, and return how many there are."""
    row = 0
    for line in range(len(bounds) - 1):
        at, end = bounds[line], bounds[line + 1] - 1
        # Of a single field, a blank line cannot be told from an empty record.
        if byte(data, end) == _NEWLINE and (len(columns) > 1 or not _is_blank(byte(data, at))):
            if end > at and byte(data, end - 1) == _RETURN:
                end -= 1
            for column in range(len(kind)):
                start[column, row] = stop[column, row] = 0
                kind[column, row] = ABSENT
            taken[line] = _record(data, at, end, columns, bare, row, start, stop, kind)
        row += taken[line]
    return row


@inlined
def _is_blank(sign: int) -> bool:
    return sign in (_BLANK, _TAB, _RETURN, _NEWLINE)


@inlined
def _record(
    data: Bytes, at: int, end: int, columns: I64, bare: Mask, row: int, start: Grid, stop: Grid, kind: Kinds
) -> bool:
    """Whether the line is a record of so many fields; where the known ones are goes into the row."""
    for field in range(len(columns)):
        if field > 0:
            if at == end or byte(data, at) != _COMMA:
                return False
            at += 1
        behind, found = _field(data, at, end)
        if behind == _FAILED:
            return False
        column = columns[field]
        if column != _UNKNOWN:
            quote = 0 if found == BARE else 1
            first, last = at + quote, behind - quote
            if bare[column]:
                first, last = _trimmed(data, first, last)
            if first == last and (bare[column] or found == BARE):
                found = NULL
            start[column, row], stop[column, row], kind[column, row] = first, last, found
        at = behind
    return at == end


@inlined
def _field(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The place behind the field at `at`, and its kind."""
    if at < end and byte(data, at) == _QUOTE:
        return _quoted(data, at + 1, end)
    while at < end and byte(data, at) != _COMMA and byte(data, at) != _QUOTE:
        at += 1
    return (_FAILED if byte(data, at) == _QUOTE else at), BARE


@inlined
def _quoted(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The same from behind the opening quote."""
    found = QUOTED
    while at < end:
        if byte(data, at) != _QUOTE:
            at += 1
        elif byte(data, at + 1) == _QUOTE:
            found = DOUBLED
            at += 2
        else:
            return at + 1, found
    return _FAILED, found


@inlined
def _trimmed(data: Bytes, first: int, last: int) -> tuple[int, int]:
    """Without the blanks around."""
    while first < last and (byte(data, first) == _BLANK or byte(data, first) == _TAB):
        first += 1
    while first < last and (byte(data, last - 1) == _BLANK or byte(data, last - 1) == _TAB):
        last -= 1
    return first, last
