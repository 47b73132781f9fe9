"""`moirae queries` and `moirae undeploy`: what is in service, and taking it out."""

from __future__ import annotations

import pytest
from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import PACK


def test_what_is_deployed_is_listed_each_after_what_it_reads(cli: Cli) -> None:
    """M9: with its version, its text, and for event queries how many events are kept."""
    traffic, large, usual = cli.json("queries")
    assert large == {
        "kind": "event",
        "name": "large",
        "version": 1,
        "text": "CREATE EVENT large AS SELECT server, bytes FROM traffic WHERE bytes > 900",
        "fingerprint": large["fingerprint"],
        "reads": ["traffic"],
        "deployed_at": "2026-06-16T12:00:00.000000Z",
        "live_events": 3,
    }
    assert (traffic["kind"], usual["kind"]) == ("stream", "recall")
    assert "live_events" not in traffic
    assert "live_events" not in usual
    assert len({each["fingerprint"] for each in (traffic, large, usual)}) == 3
    assert all(each["text"] in PACK for each in (traffic, large, usual))


def test_the_table_of_queries_counts_events_of_event_queries_only(cli: Cli, quiet: Cli) -> None:
    """P6: a blank is not a nought."""
    heading, stream, event, recall = cli.lines("queries")
    assert heading.split() == ["kind", "name", "version", "reads", "deployed", "(UTC)", "events"]
    assert event.split() == ["event", "large", "v1", "traffic", "2026-06-16", "12:00:00", "3"]
    assert stream.endswith("12:00:00")
    assert recall.split()[3:5] == ["large,", "traffic"]
    assert quiet.lines("queries")[2].split()[-1] == "0"


def test_nothing_deployed_says_what_to_do(quiet: Cli) -> None:
    """P6: an empty list for scripts."""
    for name in ("usual", "large", "traffic"):
        quiet("undeploy", name)
    assert quiet.lines("queries") == ["nothing is deployed; deploy a pack with `moirae deploy PACK`"]
    assert quiet.json("queries") == []


def test_what_is_read_cannot_be_undeployed(cli: Cli) -> None:
    """M9: the message names all readers, and everything stays."""
    message = cli.refusal("undeploy", "traffic")
    assert message.startswith("stream 'traffic' is read by ")
    assert "'large'" in message
    assert "'usual'" in message
    assert cli.refusal("undeploy", "large") == "event 'large' is read by 'usual'; undeploy 'usual' first"
    assert len(cli.json("queries")) == 3


def test_undeploying_takes_a_statement_out_and_keeps_what_it_found(cli: Cli) -> None:
    """M9: last reader first, names in any case; events and chunks stay."""
    assert cli.lines("undeploy", "USUAL") == ["undeployed recall 'usual' v1"]
    assert cli.json("undeploy", "large") == {"kind": "event", "name": "large", "version": 1}
    assert cli.lines("undeploy", "traffic") == ["undeployed stream 'traffic' v1"]
    assert len(cli.json("events")) == 3
    assert len(cli.json("chunks")) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "'nope' is not deployed; deployed: 'large', 'traffic', 'usual'; name one of these"),
        ("\x1b[2J", "'\\x1b[2j' is not deployed; deployed: 'large', 'traffic', 'usual'; name one of these"),
    ],
)
def test_only_what_is_deployed_can_be_undeployed(cli: Cli, name: str, message: str) -> None:
    """M9: the names there are stand in the message."""
    assert cli.refusal("undeploy", name) == message


def test_a_narrow_terminal_shows_a_block_of_lines_a_statement(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: no column of this table can be spared, and no value is cut."""
    monkeypatch.setenv("COLUMNS", "60")
    blocks = "\n".join(plain(cli.screen("queries"))).split("\n\n")
    assert len(blocks) == 3
    assert [line.split(maxsplit=1)[1] for line in blocks[2].splitlines()[:4]] == [
        "recall",
        "usual",
        "v1",
        "large, traffic",
    ]
    assert "deployed (UTC)  2026-06-16 12:00:00" in blocks[2]
