"""Laws of reading landing files: the quick way changes no answer, and no line is lost or read twice."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.ingest import read

from moirae.ingest import Parsed, parse_file
from moirae.ingest.lines import blocks
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

SCHEMA = Schema.of(
    at=Type.TIMESTAMP,
    server=Type.STRING,
    bytes=Type.BIGINT,
    code=Type.INT,
    speed=Type.DOUBLE,
    up=Type.BOOLEAN,
    seen=Type.TIMESTAMP,
)
STREAM = StreamDef("wide", SCHEMA, "at")
NAMES = list(SCHEMA.names)

MOMENTS = st.sampled_from(
    """2026-07-06T00:00:01.577732Z|2026-07-06 00:00:01|2026-07-06T00:00Z|2026-07-06|2026-07-06T01:00:00+02:00
    2026-07-06T01:00:00-0930|2026-07-06T01:00:00.5+18|2026-07-06T01:00:00.123456789Z|2024-02-29T12:00:00Z
    1970-01-01T00:00:00Z|0001-01-01T00:00:00Z|9999-12-31T23:59:59.999999Z|1969-12-31 23:59:59.999999""".replace(
        "\n", "|"
    )
    .replace(" " * 4, "")
    .split("|")
)
NO_MOMENTS = st.sampled_from(
    """2026-02-29T00:00:00Z|2026-13-01|2026-04-31|2026-07-06T24:00:00Z|2026-07-06T00:00:60Z|0000-01-01|yesterday
    2026-07-06T00:00:00+19:00|0001-01-01T00:00:00+01:00|9999-12-31T23:59:59-01:00|2026-7-6|2026-07-06t00:00:00z
    2026-07-06Z|2026-07-06T00|2026-07-06T00:00:00.Z|2026-07-06T00:00:00 Z|1783296001|٢٠٢٦-07-06|0000-12-31T23:00-02:00""".replace(
        "\n", "|"
    )
    .replace(" " * 4, "")
    .split("|")
)
INTEGERS = st.one_of(
    st.integers(-1000, 1000),
    st.sampled_from([2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**25]),
).map(str)
REALS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "0.0",
            "-0",
            "-0.0",
            "1e3",
            "1E+05",
            "2.5e-3",
            "1e308",
            "1e309",
            "1e999",
            "-1e999",
            "1e-400",
            "0.1",
            "123456789.123456789e20",
            "1e99",
        ]
    ),
)
ODD_NUMBERS = st.sampled_from(
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "inf",
        "01",
        "007",
        "+7",
        "1.",
        ".5",
        "0x10",
        "1_000",
        "١٢",
        "-",
        "--",
        "1e",
        "3.0",
        "9e1",
        "--1",
    ]
)
TEXTS = st.one_of(
    st.sampled_from(
        ["s1", "s2", "", " ", "null", "true", "12", "a,b", 'say "x"', "é\u2028ü", "😀", "\x00", "tab\there", "a\rb"]
    ),
    st.text(max_size=5).filter(lambda text: "\n" not in text and not any(0xD800 <= ord(c) < 0xE000 for c in text)),
)


def quoted(text: str) -> str:
    return '"' + text + '"'


def json_text(text: str) -> str:
    """Spelled as JSON, quotes and controls escaped."""
    return quoted("".join(f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 else c for c in text))


JSON_STRINGS = st.one_of(
    TEXTS.map(json_text),
    st.sampled_from(
        [r'"\n\t\"\\\/"', r'"\u00e9"', r'"\ud83d\ude00"', r'"\ud83d"', r'"\ude00x"', r'"\q"', r'"\u12"', '"\x01"']
    ),
)
JSON_GOOD: dict[Type, st.SearchStrategy[str]] = {
    Type.TIMESTAMP: MOMENTS.map(quoted),
    Type.STRING: TEXTS.map(json_text),
    Type.BIGINT: st.integers(-(2**63), 2**63 - 1).map(str),
    Type.INT: st.integers(-(2**31), 2**31 - 1).map(str),
    Type.DOUBLE: REALS | INTEGERS,
    Type.BOOLEAN: st.sampled_from(["true", "false"]),
}
JSON_ANY = st.one_of(
    MOMENTS.map(quoted),
    NO_MOMENTS.map(quoted),
    JSON_STRINGS,
    INTEGERS,
    REALS,
    ODD_NUMBERS,
    st.sampled_from(
        ["null", "true", "false", "True", "[]", "{}", "[1, 2]", '{"at":1,"at":2}', '[["x"]]', "", '{"a":{"b":[]}}']
    ),
)
BLANKS = st.sampled_from(["", "", "", " ", "\t", "  ", "\r"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \t\r\n"])


@st.composite
def json_line(draw: st.DrawFn, keys: list[str]) -> str:
    """A line with the file's usual keys, some left out; one value or key may be odd."""
    blank = draw(BLANKS)
    present = [key for key in keys if key.lower() == "at" or draw(st.integers(0, 9))]
    values = {key: draw(JSON_GOOD[SCHEMA[key.lower()]] if key.lower() in SCHEMA else JSON_ANY) for key in present}
    if draw(st.integers(0, 3)) == 0:
        values[draw(st.sampled_from(present))] = draw(JSON_ANY)
    pairs = [f'"{key}"{blank}:{blank}{value}' for key, value in values.items()]
    if draw(st.integers(0, 5)) == 0:
        key = draw(st.sampled_from([*NAMES, "AT", "Bytes", "extra", "at ", r"\u0061t", "", "ключ"]))
        pairs.insert(draw(st.integers(0, len(pairs))), f'"{key}":{draw(JSON_ANY)}')
    return blank + "{" + f"{blank},{blank}".join(pairs) + "}" + blank


@st.composite
def spoilt(draw: st.DrawFn, line: str) -> str:
    """The line cut, or with a character too many."""
    place = draw(st.integers(0, len(line)))
    return line[:place] + draw(
        st.sampled_from(["", "", '"', ",", "}", "{", ":", "\\", "\ufeff", "é", "\x00", "1", "["])
    )


def lines_of(line: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    odd = st.sampled_from(
        ["", " ", "[]", "1", "null", '"x"', "{}", "{,}", "[" * 5000, "\ufeff", "\x0b", "\u00a0", '{"at":1}x']
    )
    return st.one_of(line, line, line, line.flatmap(spoilt), odd)


@st.composite
def content_of(draw: st.DrawFn, line: st.SearchStrategy[str], heading: str = "") -> bytes:
    lines = draw(st.lists(st.tuples(lines_of(line), ENDS), max_size=12))
    data = (heading + "".join(text + end for text, end in lines)).encode()
    if draw(st.integers(0, 9)) == 0 and data:
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x82"])) + data[place:]
    bom = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]))
    return bom + (data if draw(st.booleans()) else data.removesuffix(b"\n"))


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    others = [name for name in NAMES if name != "at"]
    keys = draw(st.lists(st.sampled_from([*others, "extra", "Speed2", "x y", "ünï"]), unique=True, max_size=6))
    spelled = [key.upper() if key in SCHEMA and draw(st.integers(0, 5)) == 0 else key for key in keys]
    spelled.insert(draw(st.integers(0, len(spelled))), "at")
    return draw(content_of(json_line(spelled)))


CSV_GOOD: dict[Type, st.SearchStrategy[str]] = {
    Type.TIMESTAMP: MOMENTS,
    Type.STRING: TEXTS,
    Type.BIGINT: st.integers(-(2**63), 2**63 - 1).map(str) | st.sampled_from(["007", "+7", "-0", ""]),
    Type.INT: st.integers(-(2**31), 2**31 - 1).map(str) | st.just(""),
    Type.DOUBLE: REALS | INTEGERS | st.sampled_from(["", "1.", ".5", "-.5e1", "007.5"]),
    Type.BOOLEAN: st.sampled_from(["true", "False", "TRUE", "tRuE", ""]),
}
CSV_ANY = st.one_of(
    MOMENTS, NO_MOMENTS, TEXTS, INTEGERS, REALS, ODD_NUMBERS, st.sampled_from(["", " ", '"', '"a"b', 'a"', "\t"])
)


def csv_field(text: str, always: bool) -> str:
    return quoted(text.replace('"', '""')) if always or any(c in ',"\r' for c in text) else text


@st.composite
def csv_line(draw: st.DrawFn, names: list[str]) -> str:
    fields = []
    for name in names:
        text = draw(CSV_GOOD[SCHEMA[name]] if name in SCHEMA else TEXTS)
        fields.append(csv_field(text, draw(st.integers(0, 4)) == 0))
    if draw(st.integers(0, 3)) == 0:
        fields[draw(st.integers(0, len(fields) - 1))] = draw(CSV_ANY)
    if draw(st.integers(0, 9)) == 0:
        fields.append(draw(CSV_ANY))
    return ",".join(fields)


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    names = draw(st.lists(st.sampled_from([*NAMES, "extra", ""]), unique=True, max_size=7))
    if draw(st.integers(0, 9)):
        names = [name for name in names if name != "at"]
        names.insert(draw(st.integers(0, len(names))), "at")
    names = names or ["server"]
    heading = ",".join(draw(st.sampled_from([name, name.upper(), f'"{name}"', f" {name} "])) for name in names)
    return draw(content_of(csv_line(names), draw(st.sampled_from(["", "\n \r\n"])) + heading + draw(ENDS)))


def plain(parsed: Parsed) -> tuple[list[tuple[Any, ...]], list[int]]:
    """As the oracle says it; -0.0 is not 0.0 here."""
    columns = []
    for name in (*NAMES, "_line"):
        column = parsed.rows.column(name)
        columns.append((column.cast("int64") if name in ("at", "seen") else column).to_pylist())
    return [tuple(map(repr, row)) for row in zip(*columns, strict=True)], parsed.bad.column("line").to_pylist()


def check(content: bytes, format_: str, size: int) -> None:
    with patch("moirae.ingest.parse.blocks", partial(blocks, size=size)):
        parsed = parse_file(content, f"file.{format_}", STREAM)
    rows, bad = read(content, format_, STREAM)
    assert plain(parsed) == ([tuple(map(repr, row)) for row in rows], bad)
    assert parsed.rows.schema == SCHEMA.arrow.append(parsed.rows.schema.field("_line"))
    assert all(reason and "\n" not in reason for reason in parsed.bad.column("reason").to_pylist())
    texts = [line.decode(errors="backslashreplace") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    kept = [texts[line - 1].removesuffix("\r").encode()[:4096].decode(errors="ignore") for line in bad]
    assert parsed.bad.column("text").to_pylist() == kept


@given(json_files(), st.sampled_from([1, 200, 1 << 20]))
@settings(deadline=None, max_examples=300)
def test_json_lines_are_read_as_one_after_the_other(content: bytes, size: int) -> None:
    """M1: the quick way takes only what the plain way takes, with the same values, and keeps the file's order."""
    check(content, "jsonl", size)


@given(csv_files(), st.sampled_from([1, 200, 1 << 20]))
@settings(deadline=None, max_examples=300)
def test_csv_records_are_read_as_one_after_the_other(content: bytes, size: int) -> None:
    """M1: the same for CSV, whatever the header's order."""
    check(content, "csv", size)


@pytest.mark.parametrize("format_", ["jsonl", "csv"])
@given(content=st.binary(max_size=60))
@settings(deadline=None, max_examples=100)
def test_any_bytes_at_all_are_rows_or_bad_lines(format_: str, content: bytes) -> None:
    """M1: no content makes the parser fail."""
    check(content, format_, 1 << 20)
