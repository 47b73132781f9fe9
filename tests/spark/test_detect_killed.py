"""Detection killed with -9 again and again comes to the same end as detection left alone."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.store import ROOT, Store, archive, open_store, side_table, simulate

from moirae.simulator import STREAMS

POINTS = ("parsed", "detected", "visible", "side tables", "archived", "committed", "rolled")
KILLS = 10


class Workers:
    """One worker at work, and the next one starting meanwhile."""

    def __init__(self) -> None:
        self._next = self._start()

    def work(self, folder: Path, point: str = "none", times: int = 0) -> int:
        """The exit code of a worker that was given this to do."""
        worker, self._next = self._next, self._start()
        _, said = worker.communicate(f"{folder}\t{point}\t{times}\n", timeout=300)
        assert worker.returncode in (0, -9), said[-3000:]
        return worker.returncode

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.spark.detect_worker"]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True)

    def end(self) -> None:
        self._next.kill()
        self._next.communicate()


@pytest.fixture
def workers() -> Iterator[Workers]:
    started = Workers()
    yield started
    started.end()


def _contents(store: Store) -> dict[str, object]:
    found: dict[str, object] = {f"archive {name}": archive(store, name) for name in STREAMS}
    found |= {f"late {name}": side_table(store, f"late/{name}", ["_pos"]) for name in STREAMS}
    found["quarantine"] = side_table(store, "quarantine", ["file", "line"])
    found["events"] = side_table(store, "events", ["eid"])
    found["live events"] = sorted((e.eid, e.query, e.at, e.columns) for e in store.catalog.events(limit=100_000))
    found["tasks"] = store.catalog.task_counts()
    found["counts"] = store.catalog.totals()
    return found


@pytest.mark.spark
def test_kills_at_ten_seeded_points_change_nothing(tmp_path: Path, workers: Workers) -> None:
    """P3, M7: archive, late rows, quarantine, events and recall tasks equal those of an uninterrupted run."""
    calm = open_store(tmp_path / "calm")
    written = simulate(calm, 0.4, rows_per_file=600)
    landing, copy = Path(calm.config.ingest.landing), tmp_path / "storm" / "landing"
    shutil.copytree(landing, copy)  # keeps the files' times, which order them
    assert workers.work(tmp_path / "calm") == 0

    choose = random.Random(20070107)
    killed = 0
    while killed < KILLS:
        point = POINTS[killed % len(POINTS)]
        code = workers.work(tmp_path / "storm", point, choose.choice((1, 1, 1, 2)))
        if code == 0:
            break
        killed += 1
    assert killed >= KILLS, f"only {killed} kills before the input was used up"
    assert workers.work(tmp_path / "storm") == 0

    expected, found = _contents(calm), _contents(open_store(tmp_path / "storm"))
    for name, value in expected.items():
        assert _same(found[name], value, tmp_path), name
    for name, counts in calm.catalog.totals().items():
        truth = written.streams[name]
        assert counts.landed == counts.archived + counts.late + counts.quarantined == truth.lines
        assert (counts.late, counts.quarantined) == (truth.late, sum(truth.malformed.values()))


def _same(found: object, expected: object, folder: Path) -> bool:
    """Equal, but for the folder that is part of the files' names."""
    return str(_plain(found)).replace(f"{folder}/storm", "") == str(_plain(expected)).replace(f"{folder}/calm", "")


def _plain(value: object) -> object:
    return value.to_pylist() if hasattr(value, "to_pylist") else value
