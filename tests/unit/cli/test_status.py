"""`moirae status` and `moirae down`: the platform at a glance, the same figures for people and for scripts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import HOUR, NOW, SECOND, catalog_at

from moirae.adapters.platform.state import PlatformState, ProcessState, hold, prepare_folder, write_state
from moirae.ports.catalog import BatchCommit, Counts


def ran(store: Path, state: str = "running", pid: int | None = 4242) -> None:
    """A supervisor's state file, as it leaves it at every change."""
    prepare_folder(store)
    detect = ProcessState("detect_events", "ready", pid, f"{store}/logs/detect_events.log", NOW - HOUR, 1, None)
    recall = ProcessState("recall_history", "failed", None, f"{store}/logs/recall.log", 0, 5, 3)
    addresses = {"airflow": "http://localhost:8080"}
    write_state(PlatformState(str(store), "run-7", os.getpid(), state, NOW - 2 * HOUR, addresses, (detect, recall)))


def test_a_store_whose_platform_was_never_up_still_has_figures(cli: Cli) -> None:
    """P6: packs can be deployed and looked at before anything runs."""
    found = cli.json("status")
    assert found["at"] == "2026-07-06T12:00:00.000000Z"
    assert found["store"] == str(cli.store)
    assert found["platform"] == {"state": "never up", "run": None, "since": None, "addresses": {}}
    assert [(each["name"], each["state"]) for each in found["processes"]] == [("detect_events", "last seen")]
    assert cli.lines("status")[:2] == [f"platform never up in {cli.store}", "start it with `moirae up`"]


def test_every_row_that_landed_is_accounted_for(cli: Cli) -> None:
    """M7, P4: archived, late and quarantined make what landed; the chunks hold what was archived."""
    found = cli.json("status")
    assert found["reconciled"] is True
    assert found["streams"] == [
        {
            "stream": "traffic",
            "newest_at": "2026-07-06T11:59:59.000000Z",
            "behind_s": 1.0,
            "landed": 45,
            "archived": 40,
            "late": 3,
            "quarantined": 2,
            "in_chunks": 40,
            "bytes": 8192,
            "chunks": {"old": 1, "recent": 1, "held": 1, "present": 1},
            "reconciled": True,
            "problem": "",
        }
    ]
    lines = cli.lines("status")
    row = next(line for line in lines if line.startswith("traffic"))
    assert row.split("  ")[-1] == "old 1 recent 1 present 1 held 1"
    assert "all rows that landed are archived, late or quarantined" in lines


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        (Counts(landed=1234, archived=1200), "1,279 landed, but 1,245 are accounted for"),
        (Counts(landed=5, archived=5), "45 archived, but chunks hold 40"),
    ],
    ids=["lost on the way", "missing from the chunks"],
)
def test_rows_that_are_missing_are_told_in_red(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, counts: Counts, problem: str
) -> None:
    """M7: how many, of which stream; for scripts, too."""
    with catalog_at(cli.store) as catalog:
        catalog.commit_batch(BatchCommit("detect_events", 9, NOW, counts={"traffic": counts}))
    found = cli.json("status")
    assert (found["reconciled"], found["streams"][0]["reconciled"]) == (False, False)
    assert found["streams"][0]["problem"] == problem
    lines = cli.lines("status")
    assert f"rows of traffic do not agree: {problem}" in lines
    assert not any("all rows that landed" in line for line in lines)
    monkeypatch.setenv("COLUMNS", "200")
    assert f"\x1b[31mrows of traffic do not agree: {problem}" in cli.screen("status")


def test_compacted_chunks_may_hold_fewer_rows_than_were_archived_but_never_more(cli: Cli) -> None:
    """P4: compaction leaves rejected rows out; from then on fewer is right."""
    with catalog_at(cli.store) as catalog:
        held = catalog.chunks()[2]
        catalog.publish_generation(held.id, 0, "/archive/traffic/000003/g1", 0, 7, 1024, NOW)
    assert cli.json("status")["streams"][0]["in_chunks"] == 37
    assert cli.json("status")["reconciled"] is True
    with catalog_at(cli.store) as catalog:
        catalog.publish_generation(held.id, 1, "/archive/traffic/000003/g2", 0, 17, 1024, NOW)
    assert cli.json("status")["streams"][0]["problem"] == "40 archived, but chunks hold 47"


def test_the_last_batch_the_recalls_and_the_events_are_counted(cli: Cli) -> None:
    """P2: what the newest batch did is told only if the sign of life is of that batch."""
    found = cli.json("status")
    assert found["last_batch"] == {
        "batch": 4,
        "committed_at": "2026-07-06T11:59:59.000000Z",
        "lag_s": 1.0,
        "rows": 11,
        "events": 3,
        "took_s": 0.25,
    }
    assert found["recalls"] == {"pending": 1, "running": 1, "complete": 1, "cancelled": 0, "failed": 0}
    assert found["events"] == {"large": 3}
    assert cli.lines("status")[-3:] == [
        "last batch: 4, 1 s ago: 11 rows, 3 events, 0.25 s",
        "recalls: 2 pending, complete 1",
        "live events: large 3",
    ]
    with catalog_at(cli.store) as catalog:
        catalog.commit_batch(BatchCommit("detect_events", 5, NOW + SECOND))
    later = cli.json("status")["last_batch"]
    assert (later["batch"], later["lag_s"], later["rows"]) == (5, -1.0, None)
    assert cli.lines("status")[-3] == "last batch: 5, in 1 s"


def test_a_running_platform_shows_its_addresses_and_processes(cli: Cli) -> None:
    """P7: what the supervisor knows, and what each process said last."""
    ran(cli.store)
    with hold(cli.store):
        found, lines = cli.json("status"), cli.lines("status")
    assert found["platform"] == {
        "state": "running",
        "run": "run-7",
        "since": "2026-07-06T10:00:00.000000Z",
        "addresses": {"airflow": "http://localhost:8080"},
    }
    detect, recall = found["processes"]
    assert detect == {
        "name": "detect_events",
        "state": "ready",
        "pid": 4242,
        "since": "2026-07-06T11:00:00.000000Z",
        "restarts": 1,
        "exit_code": None,
        "log": f"{cli.store}/logs/detect_events.log",
        "says": "running",
        "beat_age_s": 2.0,
        "fields": {"batch": 4, "rows": 11, "events": 3, "took_s": 0.25},
    }
    assert (recall["state"], recall["exit_code"], recall["beat_age_s"]) == ("failed", 3, None)
    assert lines[:2] == [f"platform running in {cli.store}", "airflow: http://localhost:8080"]
    assert any(line.startswith("recall_history  failed, code 3") for line in lines)
    assert f"see {cli.store}/logs/recall.log" in lines
    assert not any("detect_events.log" in line for line in lines)


def test_a_sign_of_an_earlier_life_is_not_taken_for_one_of_this(cli: Cli) -> None:
    """P7: after a restart the process has not said anything yet."""
    ran(cli.store, pid=5353)
    with hold(cli.store):
        detect = cli.json("status")["processes"][0]
    assert (detect["pid"], detect["says"], detect["beat_age_s"], detect["fields"]) == (5353, None, None, {})


@pytest.mark.parametrize(("left", "state"), [("running", "killed"), ("starting", "killed"), ("stopped", "stopped")])
def test_a_supervisor_that_is_gone_left_a_platform_that_is_down(cli: Cli, left: str, state: str) -> None:
    """P7: the lock decides, not the file; nobody is sent to an address where nothing answers."""
    ran(cli.store, state=left)
    found = cli.json("status")
    assert (found["platform"]["state"], found["platform"]["addresses"]) == (state, {})
    assert found["processes"][0]["state"] == "gone"
    assert cli.lines("status")[:2] == [f"platform {state} in {cli.store}", "start it with `moirae up`"]


def test_before_any_row_the_status_says_what_comes_next(quiet: Cli) -> None:
    """P6: nothing landed is neither agreement nor disagreement."""
    found = quiet.json("status")
    assert (found["streams"], found["last_batch"], found["events"]) == ([], None, {})
    assert quiet.lines("status")[3:] == [
        "no rows yet: deploy a pack, then let files land, or some of `moirae simulate --history 1d`",
        "",
        "last batch: none yet",
        "recalls: 0 pending",
        "live events: none yet",
    ]


def test_what_a_process_says_cannot_steer_the_terminal(cli: Cli) -> None:
    """P6: fields of a sign of life are spelled out."""
    with catalog_at(cli.store) as catalog:
        catalog.beat("detect_events", 4242, "running", json.dumps({"file": "a\x1b[2J"}), NOW)
    assert "file=a\\x1b[2J" in cli("status").stdout


def test_a_narrow_terminal_leaves_out_what_one_can_spare(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: counts are kept, and what is missing is named."""
    monkeypatch.setenv("COLUMNS", "72")
    lines = plain(cli.screen("status"))
    assert max(map(len, lines)) <= 72 + len(str(cli.store))
    headings = next(line for line in lines if line.startswith("stream"))
    assert headings.split() == ["stream", "newest", "row", "archived", "late", "quarantined", "chunks"]
    assert "too narrow for: landed, size; --json shows all" in lines


def test_a_state_file_that_is_damaged_is_one_clear_line(cli: Cli) -> None:
    """P7: which file, and what to do about it."""
    ran(cli.store)
    (cli.store / "run" / "platform.json").write_text("{")
    message = cli.refusal("status")
    assert message.startswith(f"{cli.store}/run/platform.json: expected the platform's state, but found: ")
    assert message.endswith("end the platform's processes if any still run, and delete the file")


def test_taking_down_what_is_not_up_is_no_error(bare: Cli) -> None:
    """P7: scripts may take down twice; nothing is made on the way."""
    assert bare.lines("down") == [f"no platform was running in {bare.store}"]
    assert bare.json("down") == {"folder": str(bare.store), "stopped": False}
    assert not bare.store.exists()
