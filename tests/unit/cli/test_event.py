"""`moirae event`: one event, and what history has answered so far."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import (
    ASKING,
    DAY,
    DONE,
    NOW,
    PACK,
    SECOND,
    WAITING,
    answer_events,
    catalog_at,
    deploy,
    find_events,
    land_rows,
    turn,
)

from moirae.ports.catalog import Eid, LiveEvent, TurnSaved


def test_a_complete_answer_is_told_with_the_interval_it_covers(cli: Cli) -> None:
    """M14: the annotation of the answer; times in its rows are written as times."""
    found = cli.json("event", DONE)
    assert found == {
        "eid": DONE,
        "query": "large",
        "version": 1,
        "at": "2026-07-06T11:57:00.000000Z",
        "seen_at": "2026-07-06T11:59:55.000000Z",
        "columns": {"server": "srv-00", "bytes": 1000},
        "recalls": [
            {
                "recall": "usual",
                "version": 1,
                "state": "complete",
                "revision": 1,
                "chunks_done": 1,
                "share": 1.0,
                "complete": True,
                "asked_from": "2026-06-26T11:57:00.000000Z",
                "covered_from": "2026-07-03T11:57:00.000000Z",
                "covered_to": "2026-07-06T11:57:00.000000Z",
                "made_at": "2026-07-06T11:59:59.000000Z",
                "held_back": ["traffic/000003"],
                "rows": [{"mean": 500.0, "last_seen": "2026-07-06T10:57:00.000000Z"}],
            }
        ],
    }


def test_the_screen_shows_the_event_the_answer_and_what_it_lacks(cli: Cli) -> None:
    """M14, P4: attributes, state, interval, rows, and the chunks that were held back."""
    assert cli.lines("event", DONE) == [
        "event   aaaa11112222333344445555",
        "query   large v1",
        "at      2026-07-06 11:57:00 UTC",
        "server  srv-00",
        "bytes   1000",
        "",
        "usual v1  complete  1 chunk done, revision 1, 1 s ago",
        "······················██████████  100 %",
        "covers 2026-07-03 11:57:00 to 2026-07-06 11:57:00",
        "mean  last_seen",
        "500   2026-07-06T10:57:00.000000Z",
        "without the chunks held back: traffic/000003",
    ]


def test_an_answer_under_way_tells_its_share_of_what_can_be_answered(cli: Cli) -> None:
    """M14: one of the four days the archive holds, though ten days are asked for."""
    (recall,) = cli.json("event", ASKING)["recalls"]
    assert (recall["state"], recall["complete"], recall["revision"]) == ("asking", False, 1)
    assert recall["share"] == pytest.approx(1 / 4, abs=0.001)
    bar = next(line for line in cli.lines("event", ASKING) if line.endswith(" %"))
    assert bar.endswith("  25 %")
    cells = {sign: bar.count(sign) for sign in "·░█"}
    assert cells == {"·": 19, "░": 10, "█": 3}  # of 32 for ten days: six before the archive, three to come, one covered


def test_the_share_counts_what_is_asked_for_where_the_archive_holds_more(bare: Cli) -> None:
    """M14: one of two days."""
    bare.store.mkdir()
    with catalog_at(bare.store) as catalog:
        deploy(catalog, PACK.replace("10 days", "2 days"))
        land_rows(catalog)
        find_events(catalog)
        answer_events(catalog)
    (recall,) = bare.json("event", ASKING)["recalls"]
    assert recall["share"] == 0.5
    assert recall["asked_from"] == "2026-07-04T11:58:00.000000Z"
    assert "░" * 16 + "█" * 16 + "  50 %" in bare.lines("event", ASKING)


def test_a_recall_without_an_answer_is_asking_once_its_task_exists(cli: Cli) -> None:
    """M12: nothing is covered, nothing is claimed."""
    (recall,) = cli.json("event", WAITING)["recalls"]
    assert (recall["state"], recall["share"], recall["covered_from"], recall["rows"]) == ("asking", None, None, [])
    lines = cli.lines("event", WAITING)
    assert lines[-2:] == ["usual v1  asking", "·" * 19 + "░" * 13 + "  0 %"]


def test_a_recall_is_waited_for_and_then_given_up(cli: Cli) -> None:
    """M14: an event is visible a moment before its tasks are; half a minute later something is wrong."""
    with catalog_at(cli.store) as catalog:
        event = LiveEvent(Eid("cccc"), "large", 1, NOW, "{}", 9, NOW)
        catalog.upsert_events([event])
    assert cli.json("event", "cccc")["recalls"][0]["state"] == "waiting"
    cli.now = NOW + 31 * SECOND
    assert cli.json("event", "cccc")["recalls"][0]["state"] == "stopped"
    assert "it will not go on: cancelled, failed or undeployed" in cli("event", "cccc").stdout


def test_a_cancelled_recall_keeps_its_last_answer_and_says_that_it_stopped(cli: Cli) -> None:
    """M13: what was answered before is still worth reading."""
    with catalog_at(cli.store) as catalog:
        catalog.save_turns([replace(turn(ASKING, complete=False, days=2, mean=450.0, seq=2), state="cancelled")])
    (recall,) = cli.json("event", ASKING)["recalls"]
    assert (recall["state"], recall["revision"], recall["complete"]) == ("stopped", 2, False)
    assert recall["rows"][0]["mean"] == 450.0
    assert recall["share"] == pytest.approx(1 / 2, abs=0.001)


def test_an_undeployed_recall_keeps_its_answer_without_what_it_asked_for(cli: Cli) -> None:
    """M9: nothing is guessed about a recall that is gone."""
    cli("undeploy", "usual")
    (recall,) = cli.json("event", DONE)["recalls"]
    assert (recall["state"], recall["asked_from"], recall["share"]) == ("complete", None, 1.0)
    assert recall["covered_from"] == "2026-07-03T11:57:00.000000Z"
    assert "█" * 32 + "  100 %" in cli.lines("event", DONE)


def test_an_event_without_recalls_says_how_to_get_one(cli: Cli) -> None:
    """M2: by a statement that can be copied."""
    cli("undeploy", "usual")
    with catalog_at(cli.store) as catalog:
        event = LiveEvent(Eid("cccc"), "large", 1, NOW, "{}", 9, NOW)
        catalog.upsert_events([event])
    assert cli.lines("event", "cccc")[-1].endswith("deploy one with CREATE RECALL … FOR large")


def test_long_answers_are_cut_on_the_screen_and_whole_for_scripts(cli: Cli) -> None:
    """P6: the first twenty rows, and how many more there are."""
    answer = json.dumps({"rows": [{"mean": float(n), "last_seen": None} for n in range(25)]})
    asked = turn(WAITING, complete=True, days=1, mean=0)
    revision = replace(asked.revisions[0], answer=answer)
    with catalog_at(cli.store) as catalog:
        catalog.save_turns([replace(asked, revisions=(revision,))])
    lines = cli.lines("event", WAITING)
    assert lines[-2:] == ["19    -", "and 5 rows more; --json shows all"]
    assert len(cli.json("event", WAITING)["recalls"][0]["rows"]) == 25


def test_an_answer_of_no_rows_is_told_from_no_answer(cli: Cli) -> None:
    """M2: history may know nothing about a server."""
    asked = turn(WAITING, complete=True, days=1, mean=0)
    with catalog_at(cli.store) as catalog:
        catalog.save_turns([replace(asked, revisions=(replace(asked.revisions[0], answer='{"rows": []}'),))])
    assert cli.lines("event", WAITING)[-1] == "no rows"
    assert cli.json("event", WAITING)["recalls"][0]["complete"] is True


@pytest.mark.parametrize(
    ("eid", "message"),
    [
        ("cccc", "no event begins with 'cccc'; `moirae events` lists the newest"),
        ("bbbb", "several events begin with 'bbbb', such as 'bbbb11112222' and 'bbbb99998888'; write more of the eid"),
        ("bbbb_", "no event begins with 'bbbb_'; `moirae events` lists the newest"),
        ("%\x1b[31m", "no event begins with '%\\x1b[31m'; `moirae events` lists the newest"),
    ],
)
def test_an_eid_that_names_no_event_or_several_is_refused(cli: Cli, eid: str, message: str) -> None:
    """P6: one line that says what to write instead; signs of SQL's LIKE and of terminals mean nothing."""
    assert cli.refusal("event", eid) == message
    assert cli.refusal("event", eid, "--json", "--follow") == message


def test_the_beginning_of_an_eid_is_enough(cli: Cli) -> None:
    """P6: as long as one event only begins so."""
    assert [cli.json("event", eid)["eid"] for eid in ("a", "bbbb1", DONE)] == [DONE, ASKING, DONE]


def test_a_value_from_outside_cannot_steer_the_terminal(cli: Cli) -> None:
    """P6: neither an attribute nor an answer."""
    event = LiveEvent(Eid("cccc"), "large", 1, NOW - 120 * SECOND, json.dumps({"server": "\x1b]0;x\x07"}), 9, NOW)
    with catalog_at(cli.store) as catalog:
        catalog.upsert_events([event])
        answer = json.dumps({"rows": [{"who": "\x9b2J"}]})
        save = TurnSaved(WAITING, "usual", 1, "complete", 1, NOW - DAY, NOW, b"", NOW)
        done = turn(WAITING, complete=True, days=1, mean=0).revisions[0]
        catalog.save_turns([replace(save, revisions=(replace(done, answer=answer),))])
    assert "server  \\x1b]0;x\\x07" in cli.lines("event", "cccc")
    assert cli.lines("event", WAITING)[-1] == "\\x9b2J"


def test_a_wide_answer_becomes_blocks_on_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: a value is never cut, however narrow the screen is."""
    monkeypatch.setenv("COLUMNS", "24")
    text = "".join(plain(cli.screen("event", DONE))).replace(" ", "")
    assert "2026-07-06T10:57:00.000000Z" in text
    assert DONE in text
