"""What a file format must offer: a quick way for lines that are surely rows, a careful one for all others.

The quick way is columnar and may decline any line; what it takes, the careful way would take with the same values. So
the answer never depends on which way a line went, and every reason comes from the careful way.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from moirae.ingest.convert import Row
from moirae.ingest.lines import Lines
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

LINE = "_line"


class Reader(Protocol):
    def quick(self, lines: Lines) -> tuple[pa.Table, Lines]:
        """Rows with `_line`, and the lines that are not among them."""

    def careful(self, line: str) -> Row:
        """The row of a line that is not blank; a LineError with the reason if there is none."""


def file_schema(schema: Schema) -> pa.Schema:
    """The columns of the rows of a file."""
    return schema.arrow.append(pa.field(LINE, pa.int64()))


def table_of(stream: StreamDef, rows: list[Row], number: list[int]) -> pa.Table:
    """Rows of the careful way."""
    columns = []
    for position, column in enumerate(stream.schema):
        stored = pa.int64() if column.type is Type.TIMESTAMP else column.type.arrow
        columns.append(pa.array([row[position] for row in rows], type=stored).cast(column.type.arrow))
    return pa.Table.from_arrays([*columns, pa.array(number, pa.int64())], schema=file_schema(stream.schema))
