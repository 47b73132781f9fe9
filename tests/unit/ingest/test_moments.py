"""Times: a single text and a column of texts are read alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

from moirae.ingest import parse_file
from moirae.ingest.moment_scan import read_moments
from moirae.ingest.moments import moment
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

STREAM = StreamDef("s", Schema.of(at=Type.TIMESTAMP, name=Type.STRING), "at")


def scanned(texts: list[str]) -> list[int | None]:
    """The texts end to end, read by the compiled loop."""
    data = np.frombuffer("".join(texts).encode() + b"\n", np.uint8)
    bounds = np.cumsum([0, *(len(text.encode()) for text in texts)], dtype=np.int64)
    fits = np.ones(len(texts), np.bool_)
    values = read_moments(data, bounds[:-1], bounds[1:], fits)
    return [value if fit else None for value, fit in zip(values.tolist(), fits.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01 00:00:00", 0),
        ("1970-01-01", 0),
        ("1970-01-01T02:00+02:00", 0),
        ("1969-12-31T22:30:00-0130", 0),
        ("1970-01-01T00:00:00.5Z", 500_000),
        ("1970-01-01T00:00:00.000001999", 1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_a_time_is_the_same_alone_and_in_any_company(text: str, micros: int) -> None:
    """P4: ISO 8601, UTC where no zone is said."""
    assert moment(text) == micros
    assert scanned(["2026-07-06T00:00+01", text, "2026-07-06"])[1] == micros


def test_every_day_and_every_near_miss_is_read_alike_by_both() -> None:
    """P4: the compiled loop takes what the plain one takes, with the same values."""
    draw = random.Random(7)
    texts = [
        f"{year:04}-{month:02}-{day:02}"
        for year in (0, 1, 1900, 2000, 2023, 2024, 9999)
        for month in range(14)
        for day in range(33)
    ]
    whole = ["2026-07-06T01:02:03.456789Z", "2026-12-31 23:59+18:59", "0001-01-01T00:00:00-0030", "2024-02-29T00:00-07"]
    for text in whole * 2500:
        place = draw.randrange(len(text) + 1)
        texts.append(text[:place] + draw.choice("0123456789-+:.TZt z\u0660") + text[place + draw.randrange(3) :])
    assert scanned(texts) == [moment(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    ["0000-12-31T23:00:00-02:00", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2025-02-29T00:00:00Z"],
)
def test_what_no_calendar_has_is_bad_however_it_is_read(text: str) -> None:
    """P4: one such time costs its row, not its neighbours."""
    content = f"at,name\n2026-01-01T00:00:00Z,a\n{text},b\n2026-01-01T00:00:00Z,c\n"
    found = parse_file(content.encode(), "a.csv", STREAM)
    assert found.rows.column("name").to_pylist() == ["a", "c"]
    assert found.bad.column("reason").to_pylist() == [f"at: expected a TIMESTAMP, found '{text}'"]


def test_an_empty_last_field_is_null_with_and_without_a_newline() -> None:
    """P4: the end of the file changes nothing."""
    for end in (b"", b"\n", b"\r\n"):
        found = parse_file(b'at,name\n"2026-01-01",' + end, "a.csv", STREAM)
        assert found.rows.column("name").to_pylist() == [None]
