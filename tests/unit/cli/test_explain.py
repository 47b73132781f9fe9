"""`moirae explain`: all that is compiled from a pack."""

from __future__ import annotations

from pathlib import Path

from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import PACK

WINDOWED = (
    "CREATE EVENT busy AS SELECT server, avg(bytes) AS bw FROM traffic "
    "GROUP BY server, window(at, '5 minutes', '1 minute') HAVING avg(bytes) > 1000;\n"
)


def written(cli: Cli, text: str) -> str:
    path = cli.store.parent / "explained.sql"
    path.write_text(text, "utf-8")
    return str(path)


def test_the_parts_are_values_for_scripts(bare: Cli, pack: Path) -> None:
    """P8, M8: operators with their kernels, the archives recalls need, and how a recall finds rows of a chunk."""
    found = bare.json("explain", str(pack))
    assert set(found) == {"bound", "operators", "archives", "recalls"}
    assert found["operators"] == [
        {
            "operator": "traffic()",
            "reads": ["at", "server", "bytes"],
            "queries": [{"query": "large", "kernel": "no state: filter and projection, row by row"}],
        }
    ]
    assert found["archives"] == [
        {"stream": "traffic", "over": "last 10 days", "columns": ["at", "server", "bytes"], "for": ["usual"]}
    ]
    assert found["recalls"] == [
        {"recall": "usual", "index": ["server = :server"], "tested": [], "reads": ["at", "server", "bytes"]}
    ]
    assert not bare.store.exists()


def test_people_read_the_same_parts_as_text(bare: Cli, pack: Path) -> None:
    """P8: first what the pack means, then what runs it, what is archived and how recalls read."""
    lines = bare.lines("explain", str(pack))
    assert "\n".join(lines[:-5]) == bare.json("explain", str(pack))["bound"]
    assert lines[-5:] == [
        "",
        "operator traffic() reads at, server, bytes",
        "  large: no state: filter and projection, row by row",
        "archive traffic: last 10 days, columns at, server, bytes, for usual",
        "recall usual finds rows of a chunk by server = :server",
    ]


def test_a_window_tells_its_panes_and_shares_an_operator_by_key(bare: Cli) -> None:
    """P8: what state is kept, and for how long, is decided by the kernel alone."""
    stream = PACK.split("CREATE EVENT")[0]
    longer = WINDOWED.replace("busy", "busier").replace("5 minutes", "10 minutes")
    (operator,) = bare.json("explain", written(bare, stream + WINDOWED + longer))["operators"]
    assert operator["operator"] == "traffic(server)"
    kernels = {each["query"]: each["kernel"] for each in operator["queries"]}
    assert kernels["busy"].startswith("window 5 minutes hop 1 minute: 5 panes of 1 minute a key")
    assert kernels["busier"].startswith("window 10 minutes hop 1 minute: 10 panes of 1 minute a key")


def test_recalls_of_one_stream_share_its_archive(bare: Cli) -> None:
    """M8: as far back as the longest asks, with the columns of all; what is no index is tested row by row."""
    more = (
        "CREATE RECALL ever FOR large e OVER ALL AS "
        "SELECT count(*) AS n FROM HISTORY(traffic) h WHERE h.bytes > e.bytes;\n"
    )
    found = bare.json("explain", written(bare, PACK + more))
    assert [(each["over"], each["for"]) for each in found["archives"]] == [("all", ["usual", "ever"])]
    ever = found["recalls"][1]
    assert (ever["index"], ever["tested"]) == ([], ["bytes > :bytes"])
    lines = bare.lines("explain", written(bare, PACK + more))
    assert lines[-2:] == ["recall ever finds rows of a chunk by time alone", "  then tests bytes > :bytes"]


def test_a_pack_may_read_what_is_deployed(cli: Cli, bare: Cli) -> None:
    """P8: only its own statements are explained; where nothing is deployed, the stream is missing."""
    found = cli.json("explain", written(cli, WINDOWED))
    assert [each["operator"] for each in found["operators"]] == ["traffic(server)"]
    assert "event large" not in found["bound"]
    message = bare.refusal("explain", written(bare, WINDOWED))
    assert "query 'busy', line 1, column 59: expected a stream or event defined above or deployed" in message


def test_what_does_not_run_is_not_explained(cli: Cli) -> None:
    """P6: a pack that is wrong is refused as it would be by deploy."""
    cascade = written(cli, "CREATE EVENT two AS SELECT server FROM large;")
    assert cli.refusal("explain", cascade) == cli.refusal("deploy", cascade, "--yes")
    wrong = written(cli, "CREATE EVENT a AS SELECT x FROM traffic;\nCREATE EVENT b AS SELECT y FROM traffic;")
    assert cli.refusal("explain", wrong) == cli.refusal("deploy", wrong, "--yes")
    assert cli.refusal("explain", wrong).count("\n") == 1


def test_a_pack_from_outside_cannot_steer_the_terminal(bare: Cli) -> None:
    """P6: its constants are spelled out, its lines stay lines."""
    text = PACK.replace("bytes > 900", "server <> 'a\x1b[2J'")
    printed = bare("explain", written(bare, text)).stdout
    assert "server <> 'a\\x1b[2J'" in printed
    assert "\x1b" not in printed
    assert "\\n" not in printed
