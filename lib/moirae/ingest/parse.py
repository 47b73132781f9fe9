"""A landing file whole: its rows, and the lines that are none with the reason.

Every non-blank line of data is in exactly one of the two tables, under its number. A file that cannot be read at all is
one bad line, number 0. A header under which no rows can stand is bad together with all lines below it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.ingest.convert import LineError, Row
from moirae.ingest.csv_rows import CsvRows
from moirae.ingest.json_lines import JsonLines
from moirae.ingest.lines import BLANK, Lines, blocks, kept, readable, without_mark
from moirae.ingest.moments import spell, spell_one
from moirae.ingest.names import CSV, READABLE, format_of
from moirae.ingest.reader import LINE, Reader, file_schema, table_of
from moirae.model.query import StreamDef
from moirae.model.schema import Type
from moirae.model.units import show_duration

BAD = pa.schema([("line", pa.int64()), ("text", pa.string()), ("reason", pa.string())])
_NOT_UTF8 = "not UTF-8"

Bad = tuple[int, str, str]


@dataclass(frozen=True)
class Parsed:
    """`rows`: the stream's columns and `_line`; `bad`: `line`, `text`, `reason`. Both in the order of the file."""

    rows: pa.Table
    bad: pa.Table


def parse_file(
    content: bytes, name: str, stream: StreamDef, *, file_time_us: int | None = None, max_ahead_us: int | None = None
) -> Parsed:
    """The rows of a file in the format its name tells.

    With `file_time_us` and `max_ahead_us`, rows whose time is further ahead of the file's are bad: a clock is wrong.
    """
    format_, compressed = format_of(name)
    if not content:
        return _joined(stream, [])
    if format_ is None:
        return _joined(stream, [_refused(stream, f"{name}: expected a name ending in {READABLE}")])
    if compressed:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            return _joined(stream, [_refused(stream, f"gzip: {error}")])
    ahead = _Ahead.of(stream, file_time_us, max_ahead_us)
    read = _csv if format_ == CSV else _json
    return _joined(stream, [ahead.cut(part, lines) for part, lines in read(without_mark(content), stream)])


def _json(content: memoryview, stream: StreamDef) -> Iterator[tuple[Parsed, Lines]]:
    reader = JsonLines(stream)
    for block in blocks(content):
        yield _read(block, reader, stream), block


def _csv(content: memoryview, stream: StreamDef) -> Iterator[tuple[Parsed, Lines]]:
    number, header, rest = _header(content)
    if not header:
        return
    reader: Reader
    try:
        reader = CsvRows.below(_text(header), stream)
    except LineError as error:
        reader, number, rest = _Unusable(str(error)), number - 1, content[len(content) - len(rest) - len(header) :]
    for block in blocks(rest, number + 1):
        yield _read(block, reader, stream), block


def _header(content: memoryview) -> tuple[int, bytes, memoryview]:
    """The first line that is not blank, its number, and what follows."""
    number, data = 0, bytes(content)
    start, end = 0, 0
    while end < len(data):
        number, start = number + 1, end
        end = data.find(b"\n", start) + 1 or len(data)
        if data[start:end].strip(BLANK.encode()):
            return number, data[start:end], content[end:]
    return number, b"", content[end:]
