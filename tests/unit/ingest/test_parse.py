"""Whole files: names, compression, encodings, clocks, and the order of what comes out."""

from __future__ import annotations

import gzip
from functools import partial
from unittest.mock import patch

import pyarrow as pa
import pytest

from moirae.ingest import Parsed, parse_file
from moirae.ingest.json_lines import JsonLines
from moirae.ingest.lines import blocks
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

TRAFFIC = StreamDef("traffic", Schema.of(at=Type.TIMESTAMP, server=Type.STRING, bytes=Type.BIGINT), "at")
LINE = b'{"at":"2026-01-01T00:00:00Z","server":"s1","bytes":1}\n'
NEW_YEAR_US = 1_767_225_600_000_000
HOUR_US = 3_600_000_000


def whole_file(found: Parsed) -> str:
    """The reason why nothing of a file was read."""
    assert found.rows.num_rows == 0
    (bad,) = found.bad.to_pylist()
    assert (bad["line"], bad["text"]) == (0, "")
    return str(bad["reason"])


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.ndjson", "a.json", "b.JSONL", "a.jsonl.gz", "a.csv", "a.csv.gz", "x.2026.csv"]
)
def test_the_name_tells_the_format(name: str) -> None:
    """P4: the formats that are read."""
    content = b"at,server,bytes\n2026-01-01,s1,1\n" if ".csv" in name else LINE
    found = parse_file(gzip.compress(content) if name.endswith(".gz") else content, name, TRAFFIC)
    assert found.rows.column("bytes").to_pylist() == [1]
    assert found.rows.schema == TRAFFIC.schema.arrow.append(pa.field("_line", pa.int64()))


def test_another_name_is_one_bad_file() -> None:
    """P4: the reason names what can be read."""
    reason = whole_file(parse_file(LINE, "a.xml", TRAFFIC))
    assert reason == (
        "expected a file name that ends in .jsonl, .ndjson, .json, .csv, each also with .gz, found 'a.xml'"
    )


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: b"no gzip", lambda data: data[:20] + b"x" + data[21:]]
)
def test_a_broken_archive_is_one_bad_file(spoil: partial[bytes]) -> None:
    """P4: half of an archive is not half of the rows."""
    assert whole_file(parse_file(spoil(gzip.compress(LINE * 99)), "a.jsonl.gz", TRAFFIC)).startswith("gzip: ")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.jsonl.gz", "a.txt"])
def test_an_empty_file_is_nothing(name: str) -> None:
    """P4: neither rows nor complaints."""
    found = parse_file(b"", name, TRAFFIC)
    assert (found.rows.num_rows, found.bad.num_rows) == (0, 0)
    assert found.bad.schema.names == ["line", "text", "reason"]


def test_lines_that_are_not_utf8_are_kept_readable() -> None:
    """P4: the others on both sides are rows."""
    found = parse_file(LINE + b'{"at":"caf\xe9"}\n' + LINE, "a.jsonl", TRAFFIC)
    assert found.rows.column("_line").to_pylist() == [1, 3]
    assert found.bad.to_pylist() == [{"line": 2, "text": '{"at":"caf\\xe9"}', "reason": "not UTF-8"}]


def test_blank_lines_marks_and_missing_newlines_do_not_matter() -> None:
    """P4: and numbers count every line."""
    found = parse_file(
        b"\xef\xbb\xbf\n" + LINE.replace(b"\n", b"\r\n") + b" \t\r\n" + LINE.rstrip(), "a.jsonl", TRAFFIC
    )
    assert found.rows.column("_line").to_pylist() == [2, 4]
    assert found.bad.num_rows == 0


def test_a_long_bad_line_is_cut_between_characters() -> None:
    """P4: a quarantine does not fill up with one line."""
    found = parse_file(("x" + "\u00e9" * 5000).encode(), "a.jsonl", TRAFFIC)
    assert found.bad.column("text").to_pylist() == ["x" + "\u00e9" * 2047]


def test_a_clock_that_is_ahead_is_not_believed() -> None:
    """P4: clock skew is told with both times."""
    lines = [
        b'{"at":"%s"}' % at
        for at in (b"2026-01-01T01:00:00Z", b"2026-01-01T01:00:00.000001Z", b"2026-01-02", b"1999-01-01")
    ]
    read = partial(parse_file, b"\n".join(lines), "a.jsonl", TRAFFIC)
    found = read(file_time_us=NEW_YEAR_US, max_ahead_us=HOUR_US)
    limit = "is more than 1 hour ahead of the file's time 2026-01-01T00:00:00Z"
    assert found.rows.column("_line").to_pylist() == [1, 4]
    assert found.bad.to_pylist() == [
        {"line": 2, "text": lines[1].decode(), "reason": f"at: 2026-01-01T01:00:00.000001Z {limit}"},
        {"line": 3, "text": lines[2].decode(), "reason": f"at: 2026-01-02T00:00:00Z {limit}"},
    ]
    assert read().rows.num_rows == read(file_time_us=NEW_YEAR_US).rows.num_rows == 4


def test_skew_bad_lines_and_rows_keep_their_places_in_every_block() -> None:
    """P3: source positions do not depend on how a file is cut."""
    late = LINE.replace(b"2026", b"2027")
    content = (LINE + b"broken\n" + late + b"\xff\n") * 40
    with patch("moirae.ingest.parse.blocks", partial(blocks, size=300)):
        found = parse_file(content, "a.jsonl", TRAFFIC, file_time_us=NEW_YEAR_US, max_ahead_us=HOUR_US)
    assert found.rows.column("_line").to_pylist() == list(range(1, 161, 4))
    assert found.bad.column("line").to_pylist() == [line for line in range(1, 161) if line % 4 != 1]
    assert found.bad.column("text").to_pylist()[:3] == ["broken", late.decode().rstrip(), "\\xff"]


def test_a_stream_in_order_of_arrival_or_of_a_number_needs_no_timestamp() -> None:
    """P4: the time column is asked for only where there is one."""
    schema = Schema.of(step=Type.BIGINT, name=Type.STRING)
    content = b'{"step":1}\n{"name":"x"}\n{}\n'
    numbered = parse_file(content, "a.jsonl", StreamDef("s", schema, "step"), file_time_us=0, max_ahead_us=0)
    assert numbered.bad.column("reason").to_pylist() == ["step: missing"] * 2
    arrival = parse_file(content, "a.jsonl", StreamDef("s", schema, ""), file_time_us=0, max_ahead_us=0)
    assert arrival.rows.column("step").to_pylist() == [1, None, None]
    assert JsonLines(StreamDef("s", schema, "")).careful("{}") == (None, None)
