"""`moirae quarantine replay`: refused lines land once more, as new files, each line once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import PACK
from tests.unit.cli.quarantined import CSV, GOOD, JSONL, UNKNOWN, Line, land, quarantine, refuse, write

from moirae.engine.pieces import ARCHIVE, FileReader
from moirae.ingest.names import is_waiting
from moirae.lang import bind

Placed = dict[str, list[str]]


def placed(cli: Cli) -> Placed:
    """The replayed files by folder, each as its lines that are not blank."""
    found: Placed = {}
    for path in sorted((cli.store / "landing").rglob("replay-*")):
        assert not is_waiting(path.name)
        lines = [line for line in path.read_text("utf-8").split("\n") if line.strip()]
        found[f"{path.parent.name}/{path.suffix}"] = lines
    return found


def test_lines_land_again_in_their_own_form_in_the_folder_they_came_from(cli: Cli) -> None:
    """P5: JSON lines as they were, CSV under its header, a file without a stream as a whole."""
    refuse(cli.store)
    report = cli.json("quarantine", "replay", "--yes")
    assert placed(cli) == {
        "traffic/.jsonl": ["broken", '{"at": "soon"}'],
        "traffic/.csv": ["at,server,bytes", "soon,srv-01,2"],
        "billing/.jsonl": ['{"invoice": 1}', '{"invoice": 2}'],
    }
    assert {(each["stream"], each["count"]) for each in report["files"]} == {
        ("traffic", 2),
        ("traffic", 1),
        ("billing", 1),
    }
    assert all(Path(each["file"]).name.startswith(f"replay-{each['digest']}.") for each in report["files"])
    assert report["skipped"] == {"failed the check of a sealed chunk: change the rule in config/quality instead": 1}


def test_a_replay_is_listed_and_remembered_as_a_run(cli: Cli) -> None:
    """P5: afterwards the list tells which lines were tried again, and `runs` when, and as what."""
    refuse(cli.store)
    (file,) = cli.json("quarantine", "replay", "--file", "a.jsonl", "--yes")["files"]
    assert [each["replayed"] for each in cli.json("quarantine")] == [True, True, False, False, False]
    assert [line.endswith("yes") for line in cli.lines("quarantine")[1:-1]] == [True, True, False, False, False]
    (run,) = cli.json("runs", "--kind", "replay")
    assert (run["name"], run["status"]) == ("traffic", "done")
    lines = {f"{cli.store}/landing/{JSONL}": [2, 4]}
    assert run["fields"] == file | {"lines": lines}


def test_a_line_corrected_in_its_file_is_replayed_as_corrected(cli: Cli) -> None:
    """P5: mend the file, replay its lines: the rows are read now, only those, and the mark is no row."""
    refuse(cli.store)
    mended = GOOD.replace("srv-01", "srv-99")
    land(cli.store, JSONL, f"{GOOD}\n{mended}\n{GOOD}\n{GOOD}\n")
    (file,) = cli.json("quarantine", "replay", "--file", JSONL, "--yes")["files"]
    pack = bind(PACK)
    reader = FileReader(str(cli.store / "landing"), pack.streams, (), buckets=1)
    content = Path(file["file"]).read_bytes()
    pieces = {piece.kind: piece.rows for piece in reader.read(file["file"], 2**60, content)}
    assert pieces[ARCHIVE] == 2
    assert "srv-99" in content.decode()
    assert "bad" not in pieces


def test_lines_whose_file_is_gone_come_from_the_text_that_was_kept(cli: Cli) -> None:
    """P5: JSON lines stand alone; a CSV line without its header means nothing."""
    refuse(cli.store)
    for file in (JSONL, CSV, UNKNOWN):
        (cli.store / "landing" / file).unlink()
    report = cli.json("quarantine", "replay", "--yes")
    assert placed(cli) == {"traffic/.jsonl": ["broken", '{"at": "soon"}']}
    assert report["skipped"]["the CSV file with its header is gone"] == 1
    assert report["skipped"]["the file is gone"] == 1


def test_compressed_files_and_byte_order_marks_are_read_as_on_landing(cli: Cli) -> None:
    """P5: what is written is plain text; a mark in front of the header would be part of a column's name."""
    header, line = "at,server,bytes", "soon,größer,2"
    path = land(cli.store, "traffic/marked.csv.gz", "")
    path.write_bytes(gzip.compress(f"\ufeff{header}\n{line}\n".encode()))
    quarantine(cli.store, Line("traffic/marked.csv.gz", 2, line, "at: not a time"))
    cli.json("quarantine", "replay", "--yes")
    assert placed(cli) == {"traffic/.csv": [header, line]}


def test_a_row_that_failed_a_check_is_never_one_that_was_replayed(cli: Cli) -> None:
    """P4: even if a replayed line of the same file had its number."""
    refuse(cli.store)
    write(f"{cli.store}/rejected/traffic/000002", cli.store, [Line(JSONL, 2, "{}", "bytes >= 0")], -1)
    cli.json("quarantine", "replay", "--file", "a.jsonl", "--yes")
    found = cli.json("quarantine", "--stream", "traffic")
    assert [each["replayed"] for each in found if each["line"] == 2] == [True, False]


def test_what_cannot_be_replayed_says_why_and_nothing_is_written(cli: Cli) -> None:
    """P5: a duplicate, a file nobody can read, and a row that failed a check."""
    quarantine(
        cli.store,
        Line("traffic/x.jsonl", 0, "", "duplicate of traffic/w.jsonl: 9 rows"),
        Line("traffic/y.xml", 0, "", "the name tells no format"),
        Line("traffic/z.xml", 3, "", "the name tells no format"),
    )
    result = cli("quarantine", "replay", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    *left_out, last = result.stderr.splitlines()
    assert left_out == [
        "1 line left out: a duplicate of a file that was taken",
        "1 line left out: the file cannot be read: repair it and land it again",
        "1 line left out: the file's name tells no format: rename it and land it again",
    ]
    assert last.startswith("quarantine: none of the lines that match can be replayed: a duplicate")
    assert (placed(cli), cli.json("runs", "--kind", "replay")) == ({}, [])


def test_lines_are_replayed_once_and_the_refusal_names_their_own_file(cli: Cli) -> None:
    """P5: a second time is refused, naming the replay of these lines and not the newest of all."""
    refuse(cli.store)
    own = ("quarantine", "replay", "--file", "a.jsonl", "--reason", "not a JSON", "--yes")
    (first,) = cli.json(*own)["files"]
    for other in ("a.jsonl", "b.csv"):
        assert cli("quarantine", "replay", "--file", other, "--yes").exit_code == 0
    message = cli.refusal(*own)
    assert message.startswith("quarantine: expected lines not replayed yet, but all 1 that match were")
    assert f"last as {first['file']};" in message
    assert [run["fields"]["count"] for run in cli.json("runs", "--kind", "replay")] == [1, 1, 1]


def test_a_crash_between_file_and_memory_does_not_land_lines_twice(cli: Cli, pack: Path) -> None:
    """P5: the file is recognised by its name, and what it holds counts as replayed from then on."""
    refuse(cli.store)
    before = cli.json("quarantine", "replay", "--file", "a.jsonl", "--yes")["files"][0]["file"]
    content = Path(before).read_bytes()
    (cli.store / "catalog.db").unlink()
    for leftover in cli.store.glob("catalog.db-*"):
        leftover.unlink()
    cli("deploy", str(pack), "--yes")
    message = cli("quarantine", "replay", "--file", "a.jsonl", "--yes").stderr
    assert message.startswith(f"{before}: these lines were replayed before")
    assert Path(before).read_bytes() == content
    assert [each["replayed"] for each in cli.json("quarantine")][:2] == [True, True]


def test_lines_can_be_chosen_by_stream_file_and_reason(cli: Cli) -> None:
    """P5: all that is given must hold; a reason may be any part of it, in any case."""
    refuse(cli.store)
    (file,) = cli.json("quarantine", "replay", "--stream", "Traffic", "--reason", "NOT A TIME", "--file", CSV, "--yes")[
        "files"
    ]
    assert file["count"] == 1
    assert placed(cli) == {"traffic/.csv": ["at,server,bytes", "soon,srv-01,2"]}
    nothing = "quarantine: expected lines to replay, but none match; `moirae quarantine list` shows all"
    assert cli.refusal("quarantine", "replay", "--reason", "no such reason", "--yes") == nothing
    assert cli.refusal("quarantine", "replay", "--file", "jsonl", "--yes") == nothing


def test_the_plan_is_shown_before_anybody_agrees(cli: Cli) -> None:
    """P5: without a yes nothing happens, and the exit code says so."""
    refuse(cli.store)
    for answer in ("n\n", ""):
        result = cli("quarantine", "replay", "--stream", "traffic", answer=answer)
        assert result.exit_code == 1
        assert "Replay 3 lines in 2 files?" in result.stderr
        assert "nothing was done" in result.stderr
        assert result.stdout.count("of traffic → ") == 2
    assert placed(cli) == {}
    assert cli("quarantine", "replay", "--stream", "traffic", answer="y\n").exit_code == 0
    assert len(placed(cli)) == 2


def test_names_from_outside_cannot_steer_the_terminal(cli: Cli) -> None:
    """P6: the folder somebody made in the landing folder is spelled out in the plan and among the runs."""
    evil = Line("b\x1b[2j/c.jsonl", 0, "", "no stream reads from 'b'", "b\x1b[2j")
    land(cli.store, evil.file, '{"x": 1}\n')
    quarantine(cli.store, evil)
    printed = cli("quarantine", "replay", "--yes").stdout + cli("runs").stdout
    assert "\x1b" not in printed
    assert "1 line of b\\x1b[2j → " in printed
    assert json.loads(cli("runs", "--json", "--limit", "1").stdout)[0]["name"] == "b\x1b[2j"


def test_a_landing_folder_in_a_bucket_is_refused(cli: Cli) -> None:
    """P3: files are put into folders of this machine only."""
    refuse(cli.store)
    message = cli.refusal("--set", "ingest.landing=s3://bucket/landing", "quarantine", "replay", "--yes")
    assert message.startswith("s3://bucket/landing: expected a landing folder on this machine, but found a bucket")
