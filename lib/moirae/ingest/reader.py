"""What a file format must offer: a quick way for lines that are surely rows, a careful one for all others.

The quick way is columnar and may decline any line; what it takes, the careful way would take with the same values. So
the answer never depends on which way a line went, and every reason comes from the careful way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.ingest.convert import Row
from moirae.ingest.lines import I64, Lines, Mask
from moirae.ingest.moments import moments
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

LINE = "_line"


class Reader(Protocol):
    def quick(self, lines: Lines) -> tuple[list[pa.Table], Lines]:
        """Tables of rows with `_line`, and the lines that are in none of them."""

    def careful(self, line: str) -> Row:
        """The row of a line that is not blank; a LineError with the reason if there is none."""


def file_schema(schema: Schema) -> pa.Schema:
    """The columns of the rows of a file."""
    return schema.arrow.append(pa.field(LINE, pa.int64()))


def quick_types(schema: Schema, names: Mapping[str, str]) -> pa.Schema:
    """How Arrow's readers are asked for columns, by the file's names for them.

    Times are asked for as text, since what Arrow takes for a time is narrower.
    """
    types = {spelled: schema[name] for spelled, name in names.items()}
    return pa.schema([(n, pa.string() if type_ is Type.TIMESTAMP else type_.arrow) for n, type_ in types.items()])


def take_quick(
    stream: StreamDef, lines: Lines, pattern: str, read: Callable[[pa.Buffer], Mapping[str, pa.Array]]
) -> tuple[pa.Table, Mask]:
    """The rows of the lines that match and which those are; none, should Arrow refuse them all the same."""
    try:
        taken = pc.match_substring_regex(lines.text, pattern).to_numpy(zero_copy_only=False).copy()
        matched = lines.keep(taken)
        rows, good = _typed(stream, read(matched.content) if len(matched) else {}, matched.number)
        taken[taken] = good
    except (pa.ArrowException, OverflowError):
        return table_of(stream, [], []), np.zeros(len(lines), dtype=np.bool_)
    return rows, taken


def _typed(stream: StreamDef, found: Mapping[str, pa.Array], number: I64) -> tuple[pa.Table, Mask]:
    """The rows among columns as Arrow read them, and which they are: those whose times exist."""
    good = np.ones(len(number), dtype=np.bool_)
    columns: list[Any] = []
    for column in stream.schema:
        values = found.get(column.name)
        if values is None:
            values = pa.nulls(len(number), column.type.arrow)
        elif column.type is Type.TIMESTAMP:
            texts, values = values, moments(values)
            good &= values.is_valid().to_numpy(zero_copy_only=False) | texts.is_null().to_numpy(zero_copy_only=False)
        if column.name == stream.time:
            good &= values.is_valid().to_numpy(zero_copy_only=False)
        columns.append(values)
    # A reader that saw more or fewer rows than there are lines makes columns of unequal length: ArrowInvalid.
    rows = pa.Table.from_arrays([*columns, pa.array(number)], schema=file_schema(stream.schema))
    return rows if good.all() else rows.filter(pa.array(good)), good


def table_of(stream: StreamDef, rows: list[Row], number: list[int]) -> pa.Table:
    """Rows of the careful way."""
    columns = []
    for position, column in enumerate(stream.schema):
        stored = pa.int64() if column.type is Type.TIMESTAMP else column.type.arrow
        columns.append(pa.array([row[position] for row in rows], type=stored).cast(column.type.arrow))
    return pa.Table.from_arrays([*columns, pa.array(number, pa.int64())], schema=file_schema(stream.schema))
