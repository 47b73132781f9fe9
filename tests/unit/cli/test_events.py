"""`moirae events`: what was found, newest first, and how far history has answered each."""

from __future__ import annotations

import json

import pytest
from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import ASKING, DONE, NOW, SECOND, WAITING, catalog_at

from moirae.ports.catalog import BatchCommit, Eid, LiveEvent, NewTask, TurnSaved

LATER = Eid("cccc00001111")


def add_event(cli: Cli, columns: str = "{}", tasks: bool = False) -> None:
    """One more event, a second old, which history may or may not be asked about yet."""
    event = LiveEvent(LATER, "large", 1, NOW - SECOND, columns, 9, NOW - SECOND)
    new = [NewTask(LATER, "usual", 1, event.at)] if tasks else []
    with catalog_at(cli.store) as catalog:
        catalog.upsert_events([event])
        catalog.commit_batch(BatchCommit("detect_events", 9, NOW, tasks=new))


def end_recall(cli: Cli, eid: Eid) -> None:
    """The recall fails before it ever answered."""
    with catalog_at(cli.store) as catalog:
        catalog.save_turns([TurnSaved(eid, "usual", 1, "failed", 1, None, None, None, NOW, "no such column")])


def recalled(cli: Cli, eid: Eid) -> object:
    return next(each["recalled"] for each in cli.json("events") if each["eid"] == eid)


def test_events_are_listed_newest_first_with_their_own_columns(cli: Cli) -> None:
    """M1: eid, time and attributes; M14: how many of an event's recalls are complete."""
    found = cli.json("events")
    assert [each["eid"] for each in found] == [WAITING, ASKING, DONE]
    assert found[2] == {
        "eid": DONE,
        "query": "large",
        "version": 1,
        "at": "2026-07-06T11:57:00.000000Z",
        "seen_at": "2026-07-06T11:59:55.000000Z",
        "columns": {"server": "srv-00", "bytes": 1000},
        "recalled": {"state": "complete", "complete": 1, "recalls": 1},
    }
    assert found[1]["recalled"] == {"state": "asking", "complete": 0, "recalls": 1}


def test_the_table_shows_as_much_of_an_eid_as_finds_the_event_again(cli: Cli) -> None:
    """P6: what is read from the list can be given to `moirae event`."""
    heading, *rows = cli.lines("events")
    assert heading.split() == ["eid", "at", "(UTC)", "query", "columns", "recalled"]
    assert rows[2] == "aaaa11112222  2026-07-06 11:57:00  large  server=srv-00 bytes=1000  complete"
    assert rows[1].endswith("asking 0/1")
    assert cli.json("event", rows[2].split()[0])["eid"] == DONE


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--limit", "1"], [WAITING]),
        (["--limit", "2"], [WAITING, ASKING]),
        (["--since", "2 minutes"], [WAITING, ASKING]),
        (["--since", "119 s"], [WAITING]),
        (["--since", "2026-07-06T11:57:00Z"], [WAITING, ASKING, DONE]),
        (["--since", "2026-07-06T13:58:30+02:00"], [WAITING]),
        (["--since", "2026-07-07"], []),
        (["--since", "99999999999999 days"], [WAITING, ASKING, DONE]),
        (["--query", "LARGE", "--limit", "1"], [WAITING]),
        (["--query", "small"], []),
    ],
)
def test_events_can_be_chosen(cli: Cli, options: list[str], expected: list[str]) -> None:
    """P6: by query, number and time; a duration counts back from now, and both ends belong to it."""
    assert [each["eid"] for each in cli.json("events", *options)] == expected


def test_an_event_whose_recall_is_not_written_yet_is_waiting(cli: Cli) -> None:
    """M14: for the moment between an event and its task the list says the same as the event's own page."""
    add_event(cli)
    assert recalled(cli, LATER) == {"state": "waiting", "complete": 0, "recalls": 1}
    assert cli.json("event", LATER)["recalls"][0]["state"] == "waiting"


def test_a_recall_that_failed_before_it_answered_is_shown_as_stopped(cli: Cli) -> None:
    """M14: not as if nothing had been asked; the list agrees with the event's own page."""
    end_recall(cli, WAITING)
    cli.now += 60 * SECOND
    assert recalled(cli, WAITING) == {"state": "stopped", "complete": 0, "recalls": 1}
    assert cli.json("event", WAITING)["recalls"][0]["state"] == "stopped"


def test_an_event_nobody_asks_about_has_no_state_of_recall(cli: Cli) -> None:
    """M1: an event query without a recall is as good as any."""
    assert cli("undeploy", "usual").exit_code == 0
    add_event(cli)
    assert recalled(cli, LATER) == {"state": "none", "complete": 0, "recalls": 0}
    assert cli.lines("events")[1].endswith(" -")


def test_values_from_outside_cannot_steer_the_terminal(cli: Cli) -> None:
    """P6: control characters are spelled out on the screen and kept as they are for scripts."""
    add_event(cli, json.dumps({"server": "a\x1b[31m\nb", "ratio": 2 / 3, "ok": True, "note": None}))
    assert cli.json("events")[0]["columns"]["server"] == "a\x1b[31m\nb"
    assert "server=a\\x1b[31m\\nb ratio=0.666667 ok=true note=-" in cli.lines("events")[1]


def test_a_narrow_terminal_folds_the_columns_of_an_event(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: eids and times stay on one line, so that they can be read and copied."""
    monkeypatch.setenv("COLUMNS", "70")
    lines = plain(cli.screen("events"))
    assert max(map(len, lines)) <= 70
    assert lines[1].startswith("bbbb99998888  2026-07-06 11:59:00  large  server=srv-02")
    assert lines[2].strip() == "bytes=1002"


def test_an_empty_list_says_why(cli: Cli, quiet: Cli) -> None:
    """P6: nothing deployed, nothing landed, no such query and nothing that matches are four things."""
    assert cli.lines("events", "--query", "nope") == ["no query 'nope' is deployed; there are large"]
    assert cli.lines("events", "--since", "1 s") == ["no events match: leave out --since or --query to see more"]
    rows_first = "no events yet: rows must land first; `moirae status` shows how far detection is"
    assert quiet.lines("events") == [rows_first]
    for name in ("usual", "large"):
        quiet("undeploy", name)
    assert quiet.lines("events")[0].startswith("no events yet: no query is deployed; deploy a pack with")
    assert quiet.json("events") == []


@pytest.mark.parametrize("since", ["soon", "", "2026-13-01", "5 parsecs", "9" * 400 + " days"])
def test_a_time_that_is_none_is_wrong_usage(cli: Cli, since: str) -> None:
    """P6: the message shows both ways to write one."""
    message = cli.misuse("events", "--since", since)
    assert message.startswith(f"Invalid value for --since: '{since}' is neither a time nor a duration; write '2026-")


@pytest.mark.parametrize("limit", ["0", "-1", "some", "9" * 30])
def test_a_limit_that_is_none_is_wrong_usage(cli: Cli, limit: str) -> None:
    """P6: every command that takes one says so, before it looks at the store."""
    for command in ("events", "runs", "quarantine"):
        assert "Invalid value for '--limit'" in cli.misuse(command, "--limit", limit)
