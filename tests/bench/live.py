"""From a row that lands to what people see, on the platform's own processes at a steady rate.

`jobs/detect_events.py` and `jobs/recall_history.py` run as they do under the supervisor, over 30 chunks of history.
Files of 250 rows land four times a second. In each, one row makes a filter event at once; every second a window over
all servers closes. A file has landed when it is renamed, and an event or answer is visible when another process, this
one, reads it from the catalog.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.adapters.catalog import SqlCatalog
from moirae.adapters.spark.job import catalog_of
from moirae.config import Config, load_config
from moirae.deploy import pack_statements
from moirae.lang import bind
from moirae.model.json_text import iso_times

ROOT = Path(__file__).resolve().parents[2]
PACK = """
CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT)
ORDER BY at LATENESS '0 seconds' FROM LANDING 'traffic' WITH (chunk_age = '12 hours');
CREATE EVENT large AS SELECT server, bytes FROM traffic WHERE bytes > 1000000;
CREATE RECALL usual FOR large e OVER LAST '30 days' REPORT EVERY '1 millisecond'
AS SELECT avg(h.bytes) AS mean, stddev(h.bytes) AS spread, count(*) AS n FROM HISTORY(traffic) h
WHERE h.server = e.server;
"""
# Deployed once history is archived, or there would be an event for each of its seconds.
LIVE = """
CREATE EVENT each_second AS SELECT count(*) AS n, avg(bytes) AS mean FROM traffic GROUP BY window(at, '1 second');
"""
SECOND = 1_000_000
DAY = 86_400 * SECOND
DAYS, ROWS_PER_DAY, FILES_PER_DAY, SERVERS = 30, 200_000, 4, 1000
ROWS_PER_S, FILES_PER_S = 1000, 4
WARM_S, MEASURED_S = 15, 60
_POLL_S = 0.01
_PATIENCE_S = 240.0


@dataclass
class Delays:
    """Seconds, one for each event."""

    filter_visible: list[float] = field(default_factory=list)
    window_visible: list[float] = field(default_factory=list)
    first_answer: list[float] = field(default_factory=list)
    last_answer: list[float] = field(default_factory=list)
    chunks: int = 0
    history_rows: int = 0


def measure(folder: Path) -> Delays:
    # A day of history a batch, so that each becomes a chunk.
    overrides = {"store.root": f"file:{folder}", "ingest.max_files_per_batch": str(FILES_PER_DAY)}
    config = load_config(ROOT / "config" / "embedded.yaml", environment={}, overrides=overrides)
    catalog = catalog_of(config)
    catalog.deploy(pack_statements(bind(PACK)), 0)
    landing = Path(config.ingest.landing) / "traffic"
    landing.mkdir(parents=True)
    now = time.time_ns() // 1000
    _fill(landing, now)
    with _Platform(config, folder) as platform:
        platform.wait(lambda: _rows_taken(catalog) == DAYS * ROWS_PER_DAY, "all history taken")
        catalog.deploy(pack_statements(bind(PACK + LIVE)), 0)
        watch = _Watch(catalog)
        _pace(landing, watch)
        platform.wait(watch.answered, "every event answered")
        delays = watch.delays()
    delays.chunks = len(catalog.chunks("traffic"))
    delays.history_rows = DAYS * ROWS_PER_DAY
    return delays


def _rows_taken(catalog: SqlCatalog) -> int:
    return sum(counts.archived for counts in catalog.totals().values())


def percentiles(values: list[float]) -> tuple[float, float]:
    """The middle and the 99th of a hundred."""
    return float(np.percentile(values, 50)), float(np.percentile(values, 99))


def _fill(landing: Path, now: int) -> None:
    """Days of rows, the last ending an hour ago."""
    random = np.random.default_rng(11)
    files, rows, span = DAYS * FILES_PER_DAY, ROWS_PER_DAY // FILES_PER_DAY, DAY // FILES_PER_DAY
    start = now - 3600 * SECOND - files * span
    for number in range(files):
        at = np.sort(random.integers(start + number * span, start + (number + 1) * span, rows))
        path = landing / f"history-{number:03d}.jsonl"
        path.write_text(_lines(at, random.integers(0, SERVERS, rows), random.integers(1, 900_000, rows)))
        written = (now - (files - number) * SECOND) * 1000  # files are taken in the order of their times
        os.utime(path, ns=(written, written))


def _lines(at: np.ndarray, server: np.ndarray, amount: np.ndarray) -> str:
    times = iso_times(pa.array(at, pa.timestamp("us", tz="UTC")))
    names, amounts = pa.array(server).cast(pa.string()), pa.array(amount).cast(pa.string())
    parts = ('{"at":"', times, '","server":"s', names, '","bytes":', amounts, "}", "")
    return "\n".join([*pc.binary_join_element_wise(*parts).to_pylist(), ""])


class _Platform:
    """Both applications, from ready to ended."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.folder = folder
        written = folder / "config.yaml"
        written.write_text(config.model_dump_json())
        self.processes = {job: self._start(job, written) for job in ("detect_events", "recall_history")}

    def _start(self, job: str, config: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(ROOT / "jobs" / f"{job}.py"), "--config", str(config)]
        with (self.folder / f"{job}.log").open("wb") as output:
            return subprocess.Popen(
                [*command, "--ready", str(self.folder / f"{job}.ready")], stdout=output, stderr=output
            )

    def __enter__(self) -> _Platform:
        try:
            self.wait(lambda: all((self.folder / f"{job}.ready").exists() for job in self.processes), "ready")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(60)

    def wait(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not reached():
            for job, process in self.processes.items():
                said = (self.folder / f"{job}.log").read_text()[-2000:]
                assert process.poll() is None, f"{job} ended with {process.returncode}: {said}"
            assert time.monotonic() < deadline, f"expected {what} within {_PATIENCE_S} s"
            time.sleep(0.02)


def _pace(landing: Path, watch: _Watch) -> None:
    """Rows of the last quarter of a second, four times a second; in between, look what has become visible."""
    random = np.random.default_rng(13)
    per_file, step = ROWS_PER_S // FILES_PER_S, SECOND // FILES_PER_S
    began = time.time()
    for number in range((WARM_S + MEASURED_S) * FILES_PER_S):
        due = began + (number + 1) / FILES_PER_S
        while time.time() < due:
            watch.look()
            time.sleep(min(_POLL_S, max(0.0, due - time.time())))
        end = round(due * 1e6)
        at = np.sort(random.integers(end - step, end, per_file))
        amount = random.integers(1, 900_000, per_file)
        amount[per_file // 2] = 2_000_000 + number
        hidden = landing / f".live-{number:05d}.jsonl"
        hidden.write_text(_lines(at, random.integers(0, SERVERS, per_file), amount))
        hidden.rename(landing / hidden.name[1:])
        watch.landed(int(at[per_file // 2]), int(at[-1]), measured=number >= WARM_S * FILES_PER_S)


class _Watch:
    """Remembers when rows landed and when what they led to was first seen."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self.catalog = catalog
        self.since = time.time_ns() // 1000
        self.landed_at: dict[int, float] = {}  # by the time of the row that is an event
        self.newest_at: list[tuple[int, float]] = []  # newest row and when it landed: what closes windows
        self.measured: set[int] = set()
        self.seen: dict[tuple[str, int], tuple[str, float]] = {}  # by query and time
        self.first: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self._number = 0

    def landed(self, event_at: int, newest: int, *, measured: bool) -> None:
        now = time.time()
        self.landed_at[event_at] = now
        self.newest_at.append((newest, now))
        if measured:
            self.measured.add(event_at)

    def look(self) -> None:
        for event in self.catalog.events(limit=40, since=self.since):
            self.seen.setdefault((event.query, event.at), (event.eid, time.time()))
        for number, revision in self.catalog.revisions_after(self._number, 1000):
            self._number = number
            self.first.setdefault(revision.eid, time.time())
            if revision.complete:
                self.last[revision.eid] = time.time()

    def answered(self) -> bool:
        self.look()
        return len(self.last) == len(self.landed_at)

    def delays(self) -> Delays:
        found = Delays()
        for at in sorted(self.measured):
            eid, visible = self.seen["large", at]
            found.filter_visible.append(visible - self.landed_at[at])
            found.first_answer.append(self.first[eid] - visible)
            found.last_answer.append(self.last[eid] - visible)
        begins = min(self.measured)
        for (query, end), (_, visible) in self.seen.items():
            if query == "each_second" and end > begins:
                closed = next(landed for newest, landed in self.newest_at if newest >= end)
                found.window_visible.append(visible - closed)
        return found
