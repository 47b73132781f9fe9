"""Laws of reading landing files: the quick way changes no answer, and no line is lost or read twice."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.ingest import read
from tests.oracles.landing_files import NAMES, SCHEMA, STREAM, csv_files, json_files

from moirae.ingest import Parsed, parse_file
from moirae.ingest.lines import blocks

SIZES = st.sampled_from([1, 200, 1 << 20])


def plain(parsed: Parsed) -> tuple[list[tuple[str, ...]], list[int]]:
    """Rows spelled out, since -0.0 is not 0.0 here, and the numbers of bad lines."""
    columns: list[list[Any]] = []
    for name in (*NAMES, "_line"):
        column = parsed.rows.column(name)
        columns.append((column.cast("int64") if name in ("at", "seen") else column).to_pylist())
    return [tuple(map(repr, row)) for row in zip(*columns, strict=True)], parsed.bad.column("line").to_pylist()


def raw_lines(content: bytes) -> list[str]:
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [line.decode(errors="backslashreplace").removesuffix("\r") for line in lines]


def check(content: bytes, format_: str, size: int) -> None:
    with patch("moirae.ingest.parse.blocks", partial(blocks, size=size)):
        parsed = parse_file(content, f"file.{format_}", STREAM)
    rows, bad = read(content, format_, STREAM)
    assert plain(parsed) == ([tuple(map(repr, row)) for row in rows], bad)
    assert parsed.rows.schema.remove(len(SCHEMA.columns)) == SCHEMA.arrow
    assert parsed.bad.column("text").to_pylist() == [raw_lines(content)[line - 1] for line in bad]
    assert all(reason and "\n" not in reason for reason in parsed.bad.column("reason").to_pylist())


@given(json_files(), SIZES)
@settings(deadline=None, max_examples=250)
def test_json_lines_are_read_as_one_after_the_other(content: bytes, size: int) -> None:
    """P4: the quick way takes only what the plain way takes, with the same values, and keeps the file's order."""
    check(content, "jsonl", size)


@given(csv_files(), SIZES)
@settings(deadline=None, max_examples=250)
def test_csv_records_are_read_as_one_after_the_other(content: bytes, size: int) -> None:
    """P4: the same for CSV, whatever the header's order."""
    check(content, "csv", size)


@pytest.mark.parametrize("format_", ["jsonl", "csv"])
@given(content=st.binary(max_size=60))
@settings(deadline=None, max_examples=100)
def test_any_bytes_at_all_are_rows_or_bad_lines(format_: str, content: bytes) -> None:
    """P4: no content makes the parser fail, and none disappears."""
    check(content, format_, 1 << 20)
