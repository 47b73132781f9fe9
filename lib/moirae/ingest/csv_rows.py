"""CSV: a header with column names in any order and case, then one record a line.

Unknown columns are ignored, absent ones are NULL, but the time must be there. A field may be quoted, with quotes inside
doubled; a record never goes on in the next line, so that one stray quote cannot swallow the rest of a file. An empty
field is NULL; a quoted empty one is an empty STRING.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from moirae.ingest.convert import FROM_CSV, LineError, Row, listed, row_of, shown
from moirae.ingest.lines import Lines, without_end
from moirae.ingest.spans import BARE, DOUBLED, QUOTED
from moirae.model.query import StreamDef
from moirae.model.schema import Type

_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_FIELD = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*+)"|(?P<bare>[^",]*))(?P<end>,|$)')
_KINDS = {**dict.fromkeys(Type, BARE | QUOTED), Type.STRING: BARE | QUOTED | DOUBLED}


@dataclass(frozen=True)
class CsvRows:
    """Reads the lines below one header; `names` are its columns, lower case."""

    stream: StreamDef
    names: tuple[str, ...]

    @classmethod
    def below(cls, header: str, stream: StreamDef) -> CsvRows:
        """A LineError if rows of the stream cannot stand below this header."""
        try:
            names = tuple((field or "").strip().lower() for field in _fields(header))
        except LineError as error:
            raise LineError(f"header: {error}") from None
        twice = [name for name in names if name in stream.schema and names.count(name) > 1]
        if twice:
            raise LineError(f"header: {twice[0]} is there twice")
        wanted = {stream.time} if stream.time in stream.schema else set(stream.schema.names)
        if not wanted & set(names):
            raise LineError(f"header: expected a column {' or '.join(sorted(wanted))}, found {listed(names)}")
        return cls(stream, names)

    def quick(self, lines: Lines) -> tuple[pa.Table, Lines]:
        # Numba takes a second to import, and what only lists files or explains a query need not wait for it.
        from moirae.ingest.columns import rows_of
        from moirae.ingest.csv_scan import scan

        return rows_of(self.stream, lines, scan(lines, self.names, self.stream.schema), _KINDS)

    def careful(self, line: str) -> Row:
        fields = _fields(line)
        if len(fields) != len(self.names):
            raise LineError(f"expected {len(self.names)} fields, found {len(fields)}")
        known = {name: field for name, field in zip(self.names, fields, strict=True) if name in self.stream.schema}
        return row_of(self.stream, known, FROM_CSV)


def _fields(line: str) -> list[str | None]:
    """The fields of a record, None for an empty one.

    >>> _fields('a,,"b,c","",')
    ['a', None, 'b,c', '', None]
    """
    text, place = without_end(line), 0
    fields: list[str | None] = []
    while True:
        found = _FIELD.match(text, place)
        if not found:
            raise LineError(f"field {len(fields) + 1}: {_quoting(text, place)}")
        quoted = found["quoted"]
        fields.append((found["bare"] or None) if quoted is None else quoted.replace('""', '"'))
        if not found["end"]:
            return fields
        place = found.end()


def _quoting(text: str, place: int) -> str:
    if text[place] != '"':
        return "expected no quote inside a field that does not begin with one"
    closed = _QUOTED.match(text, place)
    if not closed:
        return "expected the quote to be closed on the same line"
    return f"expected a comma behind the closing quote, found {shown(text[closed.end()])}"
