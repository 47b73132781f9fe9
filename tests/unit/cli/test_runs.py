"""`moirae runs`: what jobs and commands did."""

from __future__ import annotations

import json

from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import NOW, SECOND, catalog_at


def test_runs_are_listed_newest_first_with_their_fields(cli: Cli) -> None:
    """P1: one that goes on has no end yet; the fields of its end are laid over those of its start."""
    assert cli.json("runs") == [
        {
            "id": 2,
            "kind": "lifecycle",
            "name": "compact_chunks",
            "status": "running",
            "started_at": "2026-07-06T11:59:00.000000Z",
            "finished_at": None,
            "fields": {"stream": "traffic"},
        },
        {
            "id": 1,
            "kind": "lifecycle",
            "name": "check_chunks",
            "status": "done",
            "started_at": "2026-07-06T11:00:00.000000Z",
            "finished_at": "2026-07-06T11:01:30.000000Z",
            "fields": {"checked": 3, "held": 1},
        },
    ]


def test_a_run_that_goes_on_has_taken_its_time_so_far(cli: Cli) -> None:
    """P1: the clock of the moment, not of the last sign of life."""
    assert cli.lines("runs")[1:] == [
        "  2  lifecycle  compact_chunks  running  2026-07-06 11:59:00  60 s  stream=traffic",
        "  1  lifecycle  check_chunks    done     2026-07-06 11:00:00  90 s  checked=3 held=1",
    ]
    cli.now += 3540 * SECOND
    assert "running  2026-07-06 11:59:00  60.0 min" in cli.lines("runs")[1]


def test_runs_are_chosen_by_kind_before_they_are_counted(cli: Cli) -> None:
    """P6: the newest replay is found behind any number of other runs."""
    with catalog_at(cli.store) as catalog:
        replay = catalog.start_run("replay", "traffic", "{}", NOW)
        catalog.finish_run(replay, "failed", json.dumps({"error": "disk full"}), NOW + SECOND)
        for _ in range(5):
            catalog.start_run("lifecycle", "check_chunks", "{}", NOW)
    (found,) = cli.json("runs", "--kind", "replay", "--limit", "1")
    assert (found["id"], found["status"], found["fields"]) == (3, "failed", {"error": "disk full"})
    assert [each["id"] for each in cli.json("runs", "--limit", "2")] == [8, 7]
    assert [each["id"] for each in cli.json("runs", "--kind", "lifecycle", "--limit", "6")] == [8, 7, 6, 5, 4, 2]


def test_no_runs_of_a_kind_are_told_from_no_runs_at_all(cli: Cli, quiet: Cli) -> None:
    """P6: the kinds there are, or what makes the first run."""
    assert cli.lines("runs", "--kind", "nope") == ["no runs of that kind; there are runs of lifecycle"]
    assert quiet.lines("runs")[0].startswith("no runs yet: Airflow runs the lifecycle on its schedule")
    assert quiet.json("runs") == []


def test_long_fields_are_shortened_on_the_screen_only(cli: Cli) -> None:
    """P6: a run may have touched thousands of lines."""
    with catalog_at(cli.store) as catalog:
        catalog.start_run("replay", "traffic\x1b[2J", json.dumps({"lines": list(range(1000))}), NOW)
    row = cli.lines("runs")[1]
    assert row.endswith("…")
    assert "traffic\\x1b[2J" in row
    assert len(row) < 220
    assert cli.json("runs")[0]["fields"]["lines"] == list(range(1000))
