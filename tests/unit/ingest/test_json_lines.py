"""JSON lines: what is a row, and what is said of a line that is none."""

from __future__ import annotations

import json
from unittest.mock import patch

import pytest

from moirae.ingest import parse_file
from moirae.ingest.json_lines import JsonLines
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

TRAFFIC = StreamDef("traffic", Schema.of(at=Type.TIMESTAMP, server=Type.STRING, bytes=Type.BIGINT), "at")
WIDE = StreamDef("wide", Schema.of(at=Type.TIMESTAMP, code=Type.INT, speed=Type.DOUBLE, up=Type.BOOLEAN), "at")
AT = '"at":"2026-01-01T00:00:00Z"'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"server":"s1"}', "at: missing"),
        ('{"at":null}', "at: expected a TIMESTAMP, found null"),
        ('{"at":"yesterday"}', "at: expected a TIMESTAMP, found 'yesterday'"),
        ('{"at":"2026-02-30"}', "at: expected a TIMESTAMP, found '2026-02-30'"),
        ('{"at":1767225600}', "at: expected a TIMESTAMP, found 1767225600"),
        (f'{{{AT},"bytes":"abc"}}', "bytes: expected BIGINT, found 'abc'"),
        (f'{{{AT},"bytes":3.0}}', "bytes: expected BIGINT, found 3.0"),
        (f'{{{AT},"bytes":9223372036854775808}}', "bytes: expected BIGINT, found 9223372036854775808 (out of range)"),
        (f'{{{AT},"bytes":true}}', "bytes: expected BIGINT, found true"),
        (f'{{{AT},"bytes":[1]}}', "bytes: expected BIGINT, found an array"),
        (f'{{{AT},"server":7}}', "server: expected STRING, found 7"),
        (f'{{{AT},"server":{{}}}}', "server: expected STRING, found an object"),
        (f'{{{AT},"server":"\\ud800"}}', "server: expected STRING, found '\\ud800' (half of a surrogate pair)"),
        (f'{{{AT},"bytes":1,"Bytes":2}}', "bytes: given twice"),
        (
            '{"bytes":"x","server":1}',
            "at: missing; server: expected STRING, found 1; bytes: expected BIGINT, found 'x'",
        ),
        ("[1]", "expected a JSON object, found an array"),
        ("7", "expected a JSON object, found the number 7"),
        ('{"at":', "not JSON: Expecting value at column 7"),
        ('{"at":"2026', "not JSON: Unterminated string starting at column 7"),
        (f'{{{AT},"bytes":NaN}}', "not JSON: NaN is no JSON number"),
        ("[" * 100_000, "not JSON: nested too deeply"),
    ],
)
def test_a_bad_line_says_what_was_expected_and_found(line: str, reason: str) -> None:
    """P4: a bad row is kept with its reason and its place."""
    content = f"{{{AT}}}\n{line}\n{{{AT}}}\n".encode()
    found = parse_file(content, "a.jsonl", TRAFFIC)
    assert found.rows.column("_line").to_pylist() == [1, 3]
    assert found.bad.to_pylist() == [{"line": 2, "text": line[:4096], "reason": reason}]


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ('"code":2147483648', "code: expected INT, found 2147483648 (out of range)"),
        ('"code":1e3', "code: expected INT, found 1e3"),
        ('"speed":1e999', "speed: expected DOUBLE, found 1e999 (out of range)"),
        ('"speed":"fast"', "speed: expected DOUBLE, found 'fast'"),
        ('"up":1', "up: expected BOOLEAN, found 1"),
        ('"up":"true"', "up: expected BOOLEAN, found 'true'"),
        ('"code":' + "9" * 5000, f"code: expected INT, found {'9' * 60}... (out of range)"),
    ],
)
def test_every_type_is_strict(pair: str, reason: str) -> None:
    """P4: nothing is rounded, cut or guessed."""
    found = parse_file(f"{{{AT},{pair}}}".encode(), "a.jsonl", WIDE)
    assert found.bad.column("reason").to_pylist() == [reason]


def test_nulls_absent_keys_and_integers_for_doubles_are_fine() -> None:
    """P4: what can be a row is one."""
    lines = [f'{{{AT},"speed":7,"up":null}}', f'{{"UP":true,"deep":[[{{}}]],{AT},"code":-0}}']
    found = parse_file("\n".join(lines).encode(), "a.ndjson", WIDE)
    assert found.bad.num_rows == 0
    assert found.rows.drop_columns(["at", "_line"]).to_pylist() == [
        {"code": None, "speed": 7.0, "up": None},
        {"code": 0, "speed": None, "up": True},
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"at": "2026-01-01T00:00:00Z", "server": "s1", "bytes": 1},
        {
            "BYTES": 1,
            "At": "2026-01-01 00:00",
            "server": 'quo"ted \u00e9 \U0001f600',
            "tags": ["a", 1],
            "more": {"k": None},
        },
        {"at": "2026-01-01T00:00:00+02:00"},
    ],
)
@pytest.mark.parametrize("spaced", [False, True])
def test_what_programs_usually_write_goes_the_quick_way(line: dict[str, object], spaced: bool) -> None:
    """P2: a clean file costs no Python step per line."""
    text = json.dumps(line, separators=None if spaced else (",", ":")) + "\r\n"
    with patch.object(JsonLines, "careful", side_effect=AssertionError):
        found = parse_file((text * 50).encode(), "a.jsonl", TRAFFIC)
    assert found.rows.num_rows == 50


def test_two_programs_may_write_one_file() -> None:
    """P2: each in its own order of keys, wherever broken lines stand."""
    one, other = f'{{{AT},"server":"s1","bytes":1}}\n', f'{{"bytes":2,{AT}}}\n'
    with patch.object(JsonLines, "careful", side_effect=JsonLines(TRAFFIC).careful) as careful:
        found = parse_file(("garbage\n" * 3 + (one + other) * 50).encode(), "a.jsonl", TRAFFIC)
    assert careful.call_count == found.bad.num_rows == 3
    assert found.rows.column("bytes").to_pylist() == [1, 2] * 50
    assert found.rows.column("_line").to_pylist() == list(range(4, 104))
