"""Times and values as people and scripts read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import typer

from moirae.cli.settings import COLUMNS
from moirae.cli.times import iso, parse_moment, parse_span, show_age, show_exactly, show_time
from moirae.cli.values import show_columns, show_value
from moirae.config.show import HEADINGS

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOON = (datetime(2026, 7, 6, 12, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("year", [1, 33, 970, 1969, 1970, 2026, 9999])
def test_scripts_can_read_back_every_time(year: int) -> None:
    """P6: ISO-8601 with four digits of a year and six of a second, always UTC."""
    moment = datetime(year, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    text = iso(micros)
    assert text == f"{year:04}-02-03T04:05:06.789000Z"
    assert datetime.fromisoformat(text) == moment
    assert parse_moment(text, 0, "--since") == micros


def test_a_time_beyond_all_calendars_is_still_shown() -> None:
    """P6: simulated or damaged rows must not break a list."""
    assert iso(10**18) == "1000000000000000000 microseconds"
    assert show_time(-(10**18)) == "-1000000000000000000 microseconds"
    assert show_exactly(10**18).startswith("1000000000000000000 microsec")


def test_people_see_as_many_digits_as_there_are() -> None:
    """P6: to the second in lists, exactly beside an event."""
    assert show_time(NOON + 999_999) == "2026-07-06 12:00:00"
    assert show_exactly(NOON + 1) == "2026-07-06 12:00:00.000001 UTC"
    assert show_exactly(NOON - 10 * SECOND) == "2026-07-06 11:59:50 UTC"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.0004, "0 ms"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (119, "119 s"),
        (120, "2.0 min"),
        (7_199, "120.0 min"),
        (7_200, "2.0 h"),
        (172_800, "2.0 d"),
        (-90, "in 90 s"),
        (-7_200, "in 2.0 h"),
    ],
)
def test_an_age_is_shown_in_a_unit_there_are_at_least_two_of(seconds: float, shown: str) -> None:
    """P6: and what lies ahead is told as such."""
    assert show_age(round(seconds * SECOND)) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-06T12:00:00Z", NOON),
        ("2026-07-06T12:00:00", NOON),
        ("2026-07-06 14:00+02:00", NOON),
        ("2026-07-06", NOON - 12 * 3600 * SECOND),
        ("2026-07-06T12:00:00.000001Z", NOON + 1),
        ("1 hour 30 min", NOON - 5400 * SECOND),
        ("90m", NOON - 5400 * SECOND),
        ("0 s", NOON),
    ],
)
def test_a_moment_is_a_time_or_a_duration_before_now(text: str, expected: int) -> None:
    """P6: without a zone it is UTC, as everything that is shown."""
    assert parse_moment(text, NOON, "--since") == expected


@pytest.mark.parametrize("text", ["0 s", "0 d 0 h", "-1 h", "h", "1", "", "1 eon"])
def test_a_span_is_a_duration_that_lasts(text: str) -> None:
    """P6: the option is named, because a command may have several."""
    with pytest.raises(typer.BadParameter) as refused:
        parse_span(text, "--for")
    assert refused.value.param_hint == "--for"


def test_values_are_short_for_people() -> None:
    """P6: six digits of a number are enough to look at; scripts get all."""
    values = [1e-9, 123456789.0, float("nan"), False, "", [1, "a"], 2**63]
    assert [show_value(value) for value in values] == [
        "1e-09",
        "1.23457e+08",
        "nan",
        "false",
        "",
        "[1, 'a']",
        "9223372036854775808",
    ]
    assert show_columns("{}") == ""
    assert show_columns('{"a\\u001b": "b c"}') == "a\\x1b=b c"


def test_the_table_of_settings_has_the_columns_of_its_rows() -> None:
    """P7: rows and headings are made in two places."""
    assert tuple(column.heading for column in COLUMNS) == HEADINGS
