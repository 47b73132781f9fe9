"""CSV: headers, quotes and what is said of a record that is no row."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from moirae.ingest import parse_file
from moirae.ingest.csv_rows import CsvRows
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

TRAFFIC = StreamDef("traffic", Schema.of(at=Type.TIMESTAMP, server=Type.STRING, bytes=Type.BIGINT), "at")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("2026-01-01,s1", "expected 3 fields, found 2"),
        ("2026-01-01,s1,1,2", "expected 3 fields, found 4"),
        (",s1,1", "at: expected a TIMESTAMP, found null"),
        ("null,s1,1", "at: expected a TIMESTAMP, found 'null'"),
        ("2026-01-01,s1,abc", "bytes: expected BIGINT, found 'abc'"),
        ("2026-01-01,s1,3.0", "bytes: expected BIGINT, found '3.0'"),
        ('2026-01-01,"s1,1', "field 2: expected the quote to be closed on the same line"),
        ('2026-01-01,"s1"x,1', "field 2: expected a comma behind the closing quote, found 'x'"),
        ('2026-01-01,s"1,1', "field 2: expected no quote inside a field that does not begin with one"),
    ],
)
def test_a_bad_record_says_what_was_expected_and_found(record: str, reason: str) -> None:
    """P4: a bad row is kept with its reason and its place."""
    content = f"at,server,bytes\n2026-01-01,s1,1\n{record}\n2026-01-01,s1,1\n".encode()
    found = parse_file(content, "a.csv", TRAFFIC)
    assert found.rows.column("_line").to_pylist() == [2, 4]
    assert found.bad.to_pylist() == [{"line": 3, "text": record, "reason": reason}]


def test_a_header_may_have_any_order_case_and_more_or_fewer_columns() -> None:
    """P4: only the time must be there."""
    found = parse_file(
        b'rack,"AT", Server \nr1,2026-01-01,"a,""b"""\nr1,2026-01-01,\nr1,2026-01-01,""\n', "a.CSV", TRAFFIC
    )
    assert found.bad.num_rows == 0
    assert found.rows.column("server").to_pylist() == ['a,"b"', None, ""]
    assert found.rows.column("bytes").to_pylist() == [None] * 3


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"server,bytes", "header: expected a column at, found 'server', 'bytes'"),
        (b"at,bytes,AT", "header: at is there twice"),
        (b"at,\xff", "header: not UTF-8"),
        (b'at,"', "header: field 2: expected the quote to be closed on the same line"),
    ],
)
def test_below_an_unusable_header_every_line_is_bad_and_so_is_the_header(header: bytes, reason: str) -> None:
    """P4: nothing of the file disappears, so it can be mended and replayed."""
    found = parse_file(header + b"\n\n2026-01-01,s1,1\n", "a.csv", TRAFFIC)
    assert found.rows.num_rows == 0
    assert found.bad.column("line").to_pylist() == [1, 3]
    assert found.bad.column("reason").to_pylist()[-1] == reason


def test_a_header_alone_is_no_row() -> None:
    """P4: an empty export is not an error."""
    found = parse_file(b"\xef\xbb\xbfat,server,bytes\r\n", "a.csv", TRAFFIC)
    assert (found.rows.num_rows, found.bad.num_rows) == (0, 0)


@pytest.mark.parametrize("record", ["2026-01-01T00:00:00Z,s1,1", '"2026-01-01","s ""1""","1"', "2026-01-01 00:00,,"])
def test_what_programs_usually_write_goes_the_quick_way(record: str) -> None:
    """P2: a clean file costs no Python step per line."""
    with patch.object(CsvRows, "careful", side_effect=AssertionError):
        found = parse_file(("at,server,bytes\n" + f"{record}\r\n" * 50).encode(), "a.csv", TRAFFIC)
    assert found.rows.num_rows == 50
