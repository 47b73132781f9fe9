"""`moirae quarantine list`: the lines that were refused, with their reasons."""

from __future__ import annotations

import pytest
from tests.unit.cli.calling import Cli
from tests.unit.cli.quarantined import CSV, FAILED, JSONL, LINES, NO_STREAM, UNKNOWN, Line, quarantine, refuse


def numbers(found: list[dict[str, object]]) -> list[tuple[str, object]]:
    return [(str(each["file"]).split("/landing/")[1], each["line"]) for each in found]


def test_refused_lines_are_listed_as_they_came_then_rows_that_failed_a_check(cli: Cli) -> None:
    """P4: stream, file, line, reason and text of each, and where it was refused."""
    refuse(cli.store)
    found = cli.json("quarantine", "list")
    assert numbers(found) == [(JSONL, 2), (JSONL, 4), (CSV, 4), (UNKNOWN, 0), (FAILED.file, 7)]
    assert found[0] == {
        "stream": "traffic",
        "file": f"{cli.store}/landing/{JSONL}",
        "line": 2,
        "reason": "not a JSON object",
        "text": "broken",
        "source": "landing",
        "replayed": False,
    }
    assert [each["source"] for each in found] == ["landing"] * 4 + ["check"]


def test_without_a_command_the_quarantine_is_listed(cli: Cli) -> None:
    """P6: what is asked for most needs the fewest words."""
    refuse(cli.store)
    assert cli("quarantine").stdout == cli("quarantine", "list").stdout
    assert cli.json("quarantine", "--stream", "billing") == cli.json("quarantine", "list", "--stream", "billing")


def test_the_table_names_files_briefly_and_sums_up(cli: Cli) -> None:
    """P6: a line each, then how many of which stream."""
    refuse(cli.store)
    heading, first, *_, total = cli.lines("quarantine")
    assert heading.split() == ["stream", "file", "line", "reason", "text", "replayed"]
    assert first.split(maxsplit=3)[:3] == ["traffic", "a.jsonl", "2"]
    assert first.split(maxsplit=3)[3].split("  ")[0] == "not a JSON object"
    assert total == "5 lines refused (billing 1, traffic 4)"
    assert cli.lines("quarantine", "--limit", "2")[-1] == "5 lines refused (billing 1, traffic 4), the first 2 shown"
    assert len(cli.json("quarantine", "--limit", "2")) == 2


def test_one_streams_lines_can_be_chosen_in_any_case(cli: Cli) -> None:
    """P6: names are not case sensitive anywhere."""
    refuse(cli.store)
    assert numbers(cli.json("quarantine", "--stream", "BILLING")) == [(UNKNOWN, 0)]
    assert cli.lines("quarantine", "--stream", "logins") == ["nothing of 'logins' is quarantined"]


def test_nothing_refused_is_a_result(cli: Cli) -> None:
    """P6: exit code 0, an empty list for scripts."""
    assert cli.lines("quarantine") == ["nothing is quarantined"]
    assert cli.json("quarantine") == []


@pytest.mark.parametrize(
    "options", [("--stream", "traffic", "replay", "--yes"), ("--json", "list"), ("--limit", "3", "list")]
)
def test_options_before_the_command_are_refused_not_passed_over(cli: Cli, options: tuple[str, ...]) -> None:
    """P5: `quarantine --stream traffic replay` must not replay the other streams, too."""
    refuse(cli.store)
    assert "write options behind" in cli.misuse("quarantine", *options)
    assert not list((cli.store / "landing").rglob("replay-*"))


def test_text_from_outside_cannot_steer_the_terminal(cli: Cli) -> None:
    """P4, P6: a line may hold anything, and so may the names of its folder and file."""
    evil = Line("b\x1b[2J/x\x07.jsonl", 3, "\x1b[31mred\x1b[0m\u202e", f"{NO_STREAM}\r\x1b]0;", "b\x1b[2j")
    quarantine(cli.store, evil)
    printed = cli("quarantine").stdout
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(printed)
    assert "b\\x1b[2j  x\\x07.jsonl" in printed
    assert "\\x1b[31mred\\x1b[0m\\u202e" in printed
    assert cli.json("quarantine")[0]["text"] == evil.text


def test_long_lines_are_shortened_on_the_screen_only(cli: Cli) -> None:
    """P6: sixty signs tell what a line is; scripts get all that was kept."""
    quarantine(cli.store, Line(JSONL, 1, "x" * 500, "too long"))
    row = cli.lines("quarantine")[1]
    assert "x" * 59 + "…" in row
    assert "x" * 60 not in row
    assert cli.json("quarantine")[0]["text"] == "x" * 500


def test_a_store_in_a_bucket_is_not_read_from_here(cli: Cli) -> None:
    """P3: it is said, instead of an empty list that would look like good news."""
    catalog = f"catalog.url=sqlite:///{cli.store}/catalog.db"
    message = cli.refusal("--set", "store.root=s3://bucket/data", "--set", catalog, "quarantine")
    assert message.startswith("s3://bucket/data: expected a store on this machine, but found a bucket")


def test_the_reasons_of_all_lines_are_those_that_were_kept(cli: Cli) -> None:
    """P4: nothing is reworded on the way."""
    refuse(cli.store)
    assert [each["reason"] for each in cli.json("quarantine")][:3] == [line.reason for line in LINES]
