"""`moirae simulate`: the rows of a data centre, the same for the same seed, and the truth about them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import HOUR, NOW

SMALL = ("--servers", "4")


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def landed(folder: Path) -> dict[str, int]:
    """Lines by stream."""
    lines: dict[str, int] = {}
    for path in folder.glob("*/*"):
        lines[path.parent.name] = lines.get(path.parent.name, 0) + path.read_text("utf-8").count("\n")
    return lines


def test_the_same_seed_and_span_give_the_same_bytes(tmp_path: Path) -> None:
    """P8: rows, file names, tables and truth; other bytes for another seed."""
    for run, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        Cli(tmp_path / run).json("simulate", "--history", "1h", "--seed", seed, *SMALL)
    first, again, other = (digests(tmp_path / run) for run in ("a", "b", "c"))
    assert first == again
    assert len(first) == len([name for name in first if name.startswith("landing/")]) + 2
    assert set(first.values()).isdisjoint(set(other.values()) - {first["tables/servers.csv"]})


def test_what_is_reported_is_what_landed(bare: Cli) -> None:
    """P8: the platform's own landing folder, the span up to now, and a count of every kind of line."""
    report = bare.json("simulate", "--history", "1h", "--until", "30 min", *SMALL)
    landing = bare.store / "landing"
    assert (report["landing"], report["truth"]) == (str(landing), str(bare.store / "truth.json"))
    assert (report["from"], report["to"]) == ("2026-07-06T10:30:00.000000Z", "2026-07-06T11:30:00.000000Z")
    assert (report["complete"], report["seed"]) == (True, 7)
    assert {name: each["lines"] for name, each in report["streams"].items()} == landed(landing)
    assert all(each["lines"] == each["clean"] + each["malformed"] for each in report["streams"].values())
    truth = json.loads((bare.store / "truth.json").read_text("utf-8"))
    assert truth["spec"]["end_us"] == NOW - HOUR // 2


def test_the_table_shows_the_same_figures(bare: Cli, tmp_path: Path) -> None:
    """P6: thousands are separated for people."""
    lines = bare.lines("simulate", "--history", "2h", "--servers", "40", "--out", str(tmp_path / "a" / "landing"))
    assert lines[0].split() == ["stream", "lines", "files", "clean", "late", "malformed"]
    counts = {line.split()[0]: int(line.split()[1].replace(",", "")) for line in lines[1:5]}
    assert counts == landed(tmp_path / "a" / "landing")
    assert any("," in line.split()[1] for line in lines[1:5])
    assert lines[-1] == f"written to {tmp_path / 'a' / 'landing'}; the truth is in {tmp_path / 'a' / 'truth.json'}"


@pytest.mark.parametrize("file", ["traffic/a.jsonl", "traffic.csv", "traffic/2026/07/a.jsonl"])
def test_history_is_not_written_where_files_landed_before(bare: Cli, tmp_path: Path, file: str) -> None:
    """P8: rows of two histories would look like one; wherever a file lies, the platform would read it."""
    landing = tmp_path / "landing"
    (landing / file).parent.mkdir(parents=True)
    (landing / file).write_text("x\n")
    message = bare.refusal("simulate", "--history", "1h", "--out", str(landing), *SMALL)
    assert message.startswith(f"{landing}: expected an empty landing folder, but found files in it; ")
    assert digests(tmp_path).keys() == {f"landing/{file}"}


def test_history_is_written_into_folders_that_are_empty(bare: Cli, tmp_path: Path) -> None:
    """P8: deploying makes a stream's folder before its first file."""
    (tmp_path / "landing" / "traffic").mkdir(parents=True)
    report = bare.json("simulate", "--history", "1h", "--out", str(tmp_path / "landing"), *SMALL)
    assert report["streams"]["traffic"]["lines"] == landed(tmp_path / "landing")["traffic"] > 0


def test_the_present_begins_where_the_history_ends(bare: Cli) -> None:
    """P8: without a gap and without a row twice; its truth is beside that of the past."""
    bare.json("simulate", "--history", "1h", *SMALL)
    before = landed(bare.store / "landing")
    report = bare.json("simulate", "--live", "--for", "3 min", "--speed", "1200", *SMALL)
    assert (report["from"], report["to"]) == ("2026-07-06T12:00:00.000000Z", "2026-07-06T12:03:00.000000Z")
    assert report["truth"] == str(bare.store / "truth-live.json")
    gained = {name: lines - before[name] for name, lines in landed(bare.store / "landing").items()}
    assert gained == {name: each["lines"] for name, each in report["streams"].items()}


def test_a_live_stretch_without_history_ends_with_the_present(bare: Cli) -> None:
    """P8: two minutes at 1200 a second take a tenth of one, so it begins that much before now."""
    report = bare.json("simulate", "--live", "--for", "2 min", "--speed", "1200", *SMALL)
    assert (report["from"], report["to"]) == ("2026-07-06T11:58:00.100000Z", "2026-07-06T12:00:00.100000Z")
    assert report["complete"] is True


@pytest.mark.parametrize("servers", ["1", "3", "5"])
def test_any_number_of_servers_can_be_simulated(bare: Cli, servers: str) -> None:
    """P8: fewer than there are racks leaves racks out."""
    bare.json("simulate", "--history", "1h", "--servers", servers)
    rows = (bare.store / "tables" / "servers.csv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + int(servers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Invalid value for --history / --live: choose one: --history 30d, or --live"),
        (("--history", "1h", "--live"), "Invalid value for --history / --live: choose one: --history 30d, or --live"),
        (("--history", "0 h"), "Invalid value for --history: '0 h' is no time at all; write a longer one"),
        (("--live", "--for", "soon"), "Invalid value for --for: 'soon' is not a duration; write a number and a unit"),
        (("--history", "1h", "--until", "then"), "Invalid value for --until: 'then' is neither a time nor a duration"),
        (("--live", "--speed", "0"), "Invalid value for '--speed'"),
        (("--history", "1h", "--servers", "0"), "Invalid value for '--servers'"),
        (("--history", "1h", "--seed", "-1"), "Invalid value for '--seed'"),
        (("--history", "9" * 400 + " h"), "Invalid value for --history: is longer than anything lasts"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(bare: Cli, options: tuple[str, ...], message: str) -> None:
    """P6: before anything is written."""
    assert bare.misuse("simulate", *options).startswith(message)
    assert not bare.store.exists()


def test_what_cannot_be_simulated_or_written_is_one_clear_line(bare: Cli, tmp_path: Path) -> None:
    """P6: a span before 1970, a folder that is a file, a truth that is none, a bucket."""
    assert bare.refusal("simulate", "--history", "36500 d") == "simulator: start_us: lies before 1970; begin later"
    file = tmp_path / "file"
    file.write_text("x")
    assert "cannot be written (Not a directory)" in bare.refusal("simulate", "--history", "1h", "--out", str(file))
    (tmp_path / "truth.json").write_text("{}")
    message = bare.refusal("simulate", "--live", "--out", str(tmp_path / "landing"))
    assert message == f"{tmp_path}/truth.json: expected a truth file, but found something else; remove it"
    bucket = ("--set", "ingest.landing=s3://bucket/landing")
    assert bare.refusal(*bucket, "simulate", "--history", "1h").endswith("but found a bucket; name one with --out")
