"""`moirae chunks`: the archive of a stream, chunk by chunk."""

from __future__ import annotations

from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import DAY, HOUR, NOW, SECOND, catalog_at

from moirae.ports.catalog import Append, BatchCommit


def test_chunks_are_listed_oldest_first_with_all_that_is_known(cli: Cli) -> None:
    """M7: tiers, states, times and checks are those of the catalog; times are ISO-8601 in UTC."""
    found = cli.json("chunks")
    assert [(each["id"], each["tier"], each["state"]) for each in found] == [
        ("traffic/000001", "old", "sealed"),
        ("traffic/000002", "recent", "sealed"),
        ("traffic/000003", "present", "held"),
        ("traffic/000004", "present", "open"),
    ]
    oldest, _, held, present = found
    assert oldest == {
        "id": "traffic/000001",
        "stream": "traffic",
        "sequence": 1,
        "epoch": 1,
        "generation": 0,
        "state": "sealed",
        "tier": "old",
        "rows": 10,
        "bytes": 2048,
        "path": "/archive/traffic/000001/g0",
        "delta_version": 0,
        "min_at": "2026-07-02T12:00:00.000000Z",
        "max_at": "2026-07-03T11:59:59.000000Z",
        "opened_at": "2026-07-02T12:00:00.000000Z",
        "sealed_at": "2026-07-05T12:00:00.000000Z",
        "checked_at": "2026-07-06T11:00:00.000000Z",
        "check_result": "passed",
        "check_reason": "",
    }
    assert (held["check_result"], held["check_reason"]) == ("failed", "3 of 10 rows break bytes >= 0")
    assert (present["sealed_at"], present["checked_at"], present["check_result"]) == (None, None, "none")


def test_the_table_tells_why_a_chunk_is_held_and_draws_the_tiers(cli: Cli) -> None:
    """P4, P6: one line a chunk, then one line a stream whose signs are explained."""
    heading, *rows, drawn, legend = [line for line in cli.lines("chunks") if line]
    assert heading.split("  ")[0] == "chunk"
    assert [row.split()[0] for row in rows] == [f"traffic/00000{number}" for number in (1, 2, 3, 4)]
    assert rows[2].endswith("failed: 3 of 10 rows break bytes >= 0")
    assert "2026-07-05 12:00:00  2026-07-06 11:59:59  -" in rows[3]
    assert drawn == "traffic  ░▒!█"
    assert legend == "░ old  ▒ recent  █ present  ! held"


def test_only_the_chunks_of_one_stream_are_listed(cli: Cli) -> None:
    """P6: names are known in any case."""
    with catalog_at(cli.store) as catalog:
        chunk = catalog.present_chunk("logins", "/archive", NOW - HOUR)
        rows = Append("logins", chunk.id, chunk.epoch, 0, 1, 5 << 20, NOW - DAY, NOW - DAY)
        catalog.commit_batch(BatchCommit("detect_events", 9, NOW, appends=[rows]))
    assert [each["id"] for each in cli.json("chunks", "--stream", "LOGINS")] == ["logins/000001"]
    assert len(cli.json("chunks")) == 5
    assert "logins   █" in cli.lines("chunks")
    assert "5.0 MiB" in cli.lines("chunks", "--stream", "logins")[1]


def test_a_stream_without_chunks_is_told_from_an_archive_without_any(cli: Cli, quiet: Cli) -> None:
    """P6: an empty list says why, and scripts get an empty list."""
    assert cli.lines("chunks", "--stream", "nope") == ["no chunks of 'nope'; there are some of traffic"]
    assert cli.json("chunks", "--stream", "nope") == []
    assert quiet.lines("chunks")[0].startswith("no chunks yet: the first is opened when rows")


def test_a_reason_from_outside_cannot_steer_the_terminal(cli: Cli) -> None:
    """P6: a rule's text with control characters is spelled out on the screen and kept as it is for scripts."""
    with catalog_at(cli.store) as catalog:
        held = catalog.chunks()[2]
        catalog.record_check(held.id, False, "rule \x1b[2J\nbroken", NOW - SECOND)
    assert cli.json("chunks")[2]["check_reason"] == "rule \x1b[2J\nbroken"
    assert "failed: rule \\x1b[2J\\nbroken" in cli("chunks").stdout
    assert "\x1b" not in cli("chunks").stdout
