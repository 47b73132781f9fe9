"""CSV: a header with column names in any order and case, then one record a line.

Unknown columns are ignored, absent ones are NULL, but the time must be there. A field may be quoted, with quotes inside
doubled; a record never goes on in the next line, so that one stray quote cannot swallow the rest of a file. An empty
field is NULL; a quoted empty one is an empty STRING.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.csv as pa_csv

from moirae.ingest.convert import FROM_CSV, LineError, Row, listed, row_of, shown
from moirae.ingest.lines import Lines, without_end
from moirae.ingest.moments import MOMENT
from moirae.ingest.reader import quick_types, take_quick
from moirae.model.query import StreamDef
from moirae.model.schema import Type

_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_FIELD = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*+)"|(?P<bare>[^",]*))(?P<end>,|$)')
_TEXT = r'[^",\x00-\x08\x0a-\x1f]*|"(?:[^"\x00-\x08\x0a-\x1f]|"")*"'
# Never more digits than surely fit: longer numbers are looked at one by one.
_VALUES = {
    Type.BOOLEAN: "true|True|TRUE|false|False|FALSE",
    Type.INT: "-?[0-9]{1,9}",
    Type.BIGINT: "-?[0-9]{1,18}",
    Type.DOUBLE: r"-?[0-9]{1,24}(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,2})?",
    Type.TIMESTAMP: MOMENT,
}


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

    def quick(self, lines: Lines) -> tuple[list[pa.Table], Lines]:
        rows, taken = take_quick(self.stream, lines, self._pattern, self._columns)
        return [rows], lines.keep(~taken)

    def careful(self, line: str) -> Row:
        fields = _fields(line)
        if len(fields) != len(self.names):
            raise LineError(f"expected {len(self.names)} fields, found {len(fields)}")
        known = {name: field for name, field in zip(self.names, fields, strict=True) if name in self.stream.schema}
        return row_of(self.stream, known, FROM_CSV)

    @cached_property
    def _pattern(self) -> str:
        # A last line without its newline is left to the careful way: Arrow takes an empty field at its end for a
        # quoted one if another field was quoted.
        return rf"^{','.join(map(self._field, self.names))}\r?\n$"

    def _field(self, name: str) -> str:
        if name not in self.stream.schema or self.stream.schema[name] is Type.STRING:
            return f"(?:{_TEXT})"
        value = _VALUES[self.stream.schema[name]]
        return f'(?:{value}|"(?:{value})"{"" if name == self.stream.time else "|"})'

    def _columns(self, content: pa.Buffer) -> dict[str, pa.Array]:
        places = {str(place): name for place, name in enumerate(self.names) if name in self.stream.schema}
        table = pa_csv.read_csv(
            pa.BufferReader(content),
            read_options=pa_csv.ReadOptions(
                use_threads=False,
                block_size=content.size + 1,
                column_names=[str(place) for place in range(len(self.names))],
            ),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,
                include_columns=list(places),
                column_types=quick_types(self.stream.schema, places),
                null_values=[""],
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return {name: table.column(place).combine_chunks() for place, name in places.items()}


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
