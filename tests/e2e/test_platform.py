"""The platform as its users meet it: started, fed, asked, hurt and stopped through the command line alone."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moirae.adapters.platform.processes import marked_processes, wait_until
from moirae.adapters.platform.state import canonical

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
MOIRAE = Path(sys.executable).parent / "moirae"
README = (ROOT / "README.md").read_text()
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
PATIENCE_S = 90


@dataclass(frozen=True)
class Platform:
    """A store, and the commands a user would type."""

    store: Path

    def run(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [str(MOIRAE), "--set", f"store.root=file:{self.store}", "--set", "airflow.schedule=none", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def land(self, name: str, lines: list[str]) -> None:
        """As the README says: under a name that begins with a dot, then renamed."""
        folder = self.store / "landing" / "traffic"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f".{name}").write_text("\n".join([*lines, ""]))
        (folder / f".{name}").rename(folder / name)

    def until(self, *words: str, reached: Callable[[Any], bool]) -> Any:
        """Ask until the answer is the one waited for."""
        found: list[Any] = []

        def asked() -> bool:
            found.append(self.json(*words))
            return reached(found[-1])

        assert wait_until(asked, PATIENCE_S), found[-1]
        return found[-1]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    up = Platform(tmp_path_factory.mktemp("platform") / "store with a blank")
    assert set(up.json("up")["addresses"]) == {"airflow", "landing"}
    yield up
    up.run("down")


def first_pack(folder: Path) -> Path:
    """The README's own first query."""
    [pack] = re.findall(r"```sql\n(.*?)```", README, re.DOTALL)
    path = folder / "first.sql"
    path.write_text(pack)
    return path


def minutes(first: int, last: int, amount: int) -> list[str]:
    """A row every ten seconds and server."""
    seconds = range(first * 60, last * 60, 10)
    return [
        json.dumps({"at": f"{MIDNIGHT + timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ}", "server": server, "bytes": value})
        for at, value in zip(seconds, (amount + at // 10 % 7 for at in seconds), strict=True)
        for server in ("web", "db")
    ]


def rows_of(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_the_first_query_of_the_readme_is_answered_from_history(platform: Platform, tmp_path: Path) -> None:
    """P7, P2, M1, M2: deploy, land, read the events, follow one until history has no more to say."""
    platform.run("deploy", str(first_pack(tmp_path)), "--yes")
    assert [each["name"] for each in platform.json("queries")] == ["traffic", "busy", "usual"]

    calm, wild = minutes(0, 60, 500), minutes(60, 80, 5000)
    platform.land("a.jsonl", [*calm, "this is no row", *wild])
    events = platform.until("events", "--limit", "1000", reached=lambda found: len(found) > 20)
    assert {event["query"] for event in events} == {"busy"}
    assert all(event["columns"]["bw"] > 1000 for event in events)

    latest = max(events, key=lambda event: (event["at"], event["eid"]))
    told = platform.run("event", latest["eid"], "--follow", "--json").stdout.splitlines()
    answer = json.loads(told[-1])
    [recall] = answer["recalls"]
    assert (recall["recall"], recall["state"]) == ("usual", "complete")
    assert recall["covered_from"] == "2026-03-01T00:00:00.000000Z"
    before = [
        row["bytes"]
        for row in rows_of([*calm, *wild])
        if row["server"] == latest["columns"]["server"] and row["at"] < latest["at"].replace(".000000", "")
    ]
    assert recall["rows"] == [
        {"mean": pytest.approx(np.mean(before), rel=1e-12), "spread": pytest.approx(np.std(before, ddof=1), rel=1e-9)}
    ]

    platform.land("empty.jsonl", [])
    refused, empty = platform.until("quarantine", "list", reached=lambda found: len(found) == 2)
    assert (refused["stream"], refused["line"], refused["text"]) == ("traffic", len(calm) + 1, "this is no row")
    assert (empty["stream"], empty["file"].rsplit("/", 1)[1], empty["line"]) == ("traffic", "empty.jsonl", 0)


def test_status_shows_every_process_and_every_row(platform: Platform) -> None:
    """P6: nothing is lost: what landed is archived, late or quarantined."""
    status = platform.json("status")
    assert status["platform"]["state"] == "running"
    states = {process["name"]: process["state"] for process in status["processes"]}
    assert {states[name] for name in ("detect_events", "recall_history", "airflow_scheduler")} == {"ready"}
    [traffic] = status["streams"]
    assert (traffic["stream"], traffic["landed"], traffic["quarantined"]) == ("traffic", 962, 2)
    assert status["reconciled"]


def test_a_killed_application_comes_back_and_goes_on(platform: Platform) -> None:
    """P3: killed with -9, detection is started again and takes what landed meanwhile, once."""
    [process] = [each for each in platform.json("status")["processes"] if each["name"] == "detect_events"]
    os.kill(process["pid"], signal.SIGKILL)
    platform.land("b.jsonl", minutes(80, 100, 500))
    status = platform.until("status", reached=lambda found: found["streams"][0]["landed"] == 962 + 240)
    [again] = [each for each in status["processes"] if each["name"] == "detect_events"]
    assert again["pid"] != process["pid"]
    assert again["restarts"] == 1
    assert status["reconciled"]


def test_a_second_platform_in_the_same_store_is_refused(platform: Platform) -> None:
    """P7: one clear line, and the first goes on."""
    [line] = platform.run("up", code=1).stderr.splitlines()
    assert "expected no platform here, but found one running" in line
    assert platform.json("status")["platform"]["state"] == "running"


def test_a_taken_port_is_told_before_anything_starts(tmp_path: Path) -> None:
    """P7: the port, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        [line] = Platform(tmp_path).run("--set", f"airflow.port={port}", "up", code=1).stderr.splitlines()
    assert str(port) in line
    assert not marked_processes(canonical(tmp_path))


def test_down_leaves_no_process(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> None:
    """P7: and says so; what was archived is still there to be read."""
    assert platform.json("down")["stopped"]
    assert not marked_processes(canonical(platform.store))
    assert platform.json("status")["platform"]["state"] == "stopped"
    assert sum(chunk["rows"] for chunk in platform.json("chunks")) == 1200
