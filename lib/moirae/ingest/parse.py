"""A landing file whole: its rows, and the lines that are none with the reason.

Every non-blank line of data is in exactly one of the two tables, under its number. A file that cannot be read at all is
one bad line, number 0. A header under which no rows can stand is bad together with all lines below it.
"""

from __future__ import annotations

import gzip
import re
import zlib

import pyarrow as pa

from moirae.ingest.ahead import without_ahead
from moirae.ingest.convert import LineError, Row
from moirae.ingest.csv_rows import CsvRows
from moirae.ingest.json_lines import JsonLines
from moirae.ingest.lines import BLANK, Lines, blocks, kept, readable, without_mark
from moirae.ingest.names import CSV, READABLE, format_of
from moirae.ingest.parsed import Bad, Parsed, bad_table, in_order, joined
from moirae.ingest.reader import Reader, file_schema, table_of
from moirae.model.query import StreamDef
from moirae.model.schema import Type

_HEADER = re.compile(rb"(?P<blank>(?:[ \t\r]*\n)*+)(?P<header>[^\n]*\n?)")


def parse_file(
    content: bytes, name: str, stream: StreamDef, *, file_time_us: int | None = None, max_ahead_us: int | None = None
) -> Parsed:
    """The rows of a file in the format its name tells.

    With `file_time_us` and `max_ahead_us`, rows whose time is further ahead of the file's are bad: a clock is wrong.

    >>> from moirae.model.schema import Schema
    >>> traffic = StreamDef("traffic", Schema.of(at=Type.TIMESTAMP, bytes=Type.BIGINT), "at")
    >>> found = parse_file(b'{"at":"2026-01-01","bytes":1}\\n{"bytes":"x"}\\n', "a.jsonl", traffic)
    >>> found.rows.column("_line").to_pylist(), found.bad.column("reason").to_pylist()
    ([1], ["at: missing; bytes: expected BIGINT, found 'x'"])
    """
    format_, compressed = format_of(name)
    if not content:
        return joined(stream.schema, [])
    if format_ is None:
        return _refused(stream, f"expected a file name that ends in {READABLE}, found {name!r}")
    try:
        plain = gzip.decompress(content) if compressed else content
    except (OSError, EOFError, zlib.error) as error:
        return _refused(stream, f"gzip: {error}")
    reader, rest, first_line = _open(without_mark(plain), format_, stream)
    clocked = stream.time in stream.schema and stream.schema[stream.time] is Type.TIMESTAMP
    parts = []
    for block in blocks(rest, first_line):
        part = _read(block, reader, stream)
        if clocked and file_time_us is not None and max_ahead_us is not None:
            part = without_ahead(part, block, stream.time, file_time_us, max_ahead_us)
        parts.append(part)
    return joined(stream.schema, parts)


def _refused(stream: StreamDef, reason: str) -> Parsed:
    return Parsed(file_schema(stream.schema).empty_table(), bad_table([(0, "", reason)]))


class _Unusable:
    """Reads nothing: what stands below an unusable header."""

    def __init__(self, reason: str, stream: StreamDef) -> None:
        self._reason, self._rows = reason, file_schema(stream.schema).empty_table()

    def quick(self, lines: Lines) -> tuple[pa.Table, Lines]:
        return self._rows, lines

    def careful(self, line: str) -> Row:
        raise LineError(self._reason)


def _open(content: memoryview, format_: str, stream: StreamDef) -> tuple[Reader, memoryview, int]:
    """The reader, the lines it is to read, and the number of the first of them."""
    if format_ != CSV:
        return JsonLines(stream), content, 1
    found = _HEADER.match(content)
    assert found, "the pattern matches the empty text"
    try:
        reader = CsvRows.below(found["header"].decode(), stream)
    except UnicodeDecodeError:
        return _Unusable("header: not UTF-8", stream), content, 1
    except LineError as error:
        return _Unusable(str(error), stream), content, 1
    return reader, content[found.end() :], bytes(found["blank"]).count(b"\n") + 2


def _read(block: Lines, reader: Reader, stream: StreamDef) -> Parsed:
    lines, foreign = readable(block)
    quick, rest = reader.quick(lines)
    rows, bad = _carefully(rest, reader, stream)
    for number, line in zip(foreign.number.tolist(), foreign.text.to_pylist(), strict=True):
        bad.append((number, kept(line.decode(errors="backslashreplace")), "not UTF-8"))
    return Parsed(in_order([quick, rows]), bad_table(bad))


def _carefully(lines: Lines, reader: Reader, stream: StreamDef) -> tuple[pa.Table, list[Bad]]:
    """Line by line, for the few the quick way declined. Blank ones are nothing."""
    rows: list[Row] = []
    numbers: list[int] = []
    bad: list[Bad] = []
    for number, line in zip(lines.number.tolist(), lines.text.to_pylist(), strict=True):
        if not line.strip(BLANK):
            continue
        try:
            rows.append(reader.careful(line))
            numbers.append(number)
        except LineError as error:
            bad.append((number, kept(line), str(error)))
    return table_of(stream, rows, numbers), bad
