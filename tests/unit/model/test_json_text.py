"""M1: JSON made from columns is what a JSON reader takes back."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from moirae.model.json_text import iso_times, json_objects, json_values
from moirae.model.schema import Type


def texts(values: list[Any], type_: pa.DataType | None = None) -> list[str]:
    found: list[str] = json_values(pa.array(values, type_)).to_pylist()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "",
        'say "yes"',
        "C:\\temp\\new",
        "\\",
        '\\"',
        "line\nline\r\n\ttab",
        "\\n is two characters, \n is one",
        "null",
        "é ü 漢字 😀",
        "\u2028 and \u2029 end lines in JavaScript, \x7f deletes",
        "".join(map(chr, range(32))),
    ],
    ids=ascii,
)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    """M1: quotes, backslashes, control characters and everything else Unicode has."""
    [written] = texts([text])
    assert json.loads(written) == text
    assert not any(ord(letter) < 32 for letter in written)


def test_control_characters_have_their_usual_escapes() -> None:
    """M1: short where JSON has a short form people know, four digits elsewhere."""
    assert texts(["\n\r\t", "\x00\x1f\b"]) == ['"\\n\\r\\t"', '"\\u0000\\u001f\\u0008"']


def test_null_is_no_string() -> None:
    """M1: a missing value, an empty one and the word."""
    assert texts([None, "", "null"]) == ["null", '""', '"null"']
    assert texts([None], pa.null()) == ["null"]


def test_whole_numbers_keep_every_digit() -> None:
    """M1: also the ones a double cannot hold."""
    assert texts([2**63 - 1, -(2**63), None]) == ["9223372036854775807", "-9223372036854775808", "null"]


def test_truth_values_are_words() -> None:
    """M1: and not strings."""
    assert texts([True, False, None]) == ["true", "false", "null"]


def test_reals_come_back_to_the_bit() -> None:
    """M1: the shortest text that reads as the same number."""
    reals = [0.1, 1.0, -0.0, 5e-324, 1e300, 2.0**53, 1 / 3]
    assert [repr(float(text)) for text in texts(reals)] == list(map(repr, reals))
    assert all(isinstance(json.loads(text), int | float) for text in texts(reals))


def test_reals_json_has_no_word_for_are_strings() -> None:
    """M1: a bare NaN would make the whole line unreadable."""
    assert texts([math.nan, math.inf, -math.inf, None]) == ['"nan"', '"inf"', '"-inf"', "null"]


def test_times_are_utc_to_the_microsecond() -> None:
    """M1: before 1970 and at both ends of the calendar too."""
    moments = pa.array([0, -1, -62_135_596_800_000_000, 253_402_300_799_999_999, None], Type.TIMESTAMP.arrow)
    assert iso_times(moments).to_pylist() == [
        "1970-01-01T00:00:00.000000Z",
        "1969-12-31T23:59:59.999999Z",
        "0001-01-01T00:00:00.000000Z",
        "9999-12-31T23:59:59.999999Z",
        None,
    ]


@pytest.mark.parametrize(
    ("count", "type_", "expected"),
    [
        (1, pa.timestamp("s"), "1970-01-01T00:00:01.000000Z"),
        (1, pa.timestamp("ms", tz="Europe/Paris"), "1970-01-01T00:00:00.001000Z"),
        (1_999, pa.timestamp("ns"), "1970-01-01T00:00:00.000001Z"),
        (-1, pa.timestamp("ns"), "1969-12-31T23:59:59.999999Z"),
    ],
    ids=str,
)
def test_times_of_any_unit_and_zone_are_the_same_moment(count: int, type_: pa.DataType, expected: str) -> None:
    """M1: pandas counts nanoseconds; what is finer than ours is cut off, never refused."""
    assert iso_times(pa.array([count], type_)).to_pylist() == [expected]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_text_is_quoted_however_arrow_keeps_it(kind: pa.DataType) -> None:
    """M1: newer pandas gives large strings, categories give dictionaries."""
    assert json_values(pa.array(["a", 'b"', None], pa.string()).cast(kind)).to_pylist() == ['"a"', '"b\\""', "null"]


def test_a_day_is_a_string_too() -> None:
    """M1: 2024-01-02 without quotes is no JSON."""
    assert texts([date(2024, 1, 2)]) == ['"2024-01-02"']


def test_an_object_a_row_names_its_columns() -> None:
    """M1: names are escaped as texts are, and NULLs are written out."""
    table = pa.table({'the "key"': ["a", None], "n": [1, 2]})
    assert json_objects(table).to_pylist() == ['{"the \\"key\\"": "a", "n": 1}', '{"the \\"key\\"": null, "n": 2}']


def test_rows_without_columns_are_empty_objects() -> None:
    """M1: an event may have nothing but its id and time; there are still as many as there are rows."""
    assert json_objects(pa.table({"eid": ["a", "b"]}).select([])).to_pylist() == ["{}", "{}"]
    assert json_objects(pa.table({"a": pa.array([], pa.string())})).to_pylist() == []


def test_columns_in_pieces_are_one_column() -> None:
    """M1: tables come out of Arrow in chunks."""
    assert json_objects(pa.table({"a": pa.chunked_array([["x"], ["y"]])})).to_pylist() == ['{"a": "x"}', '{"a": "y"}']
