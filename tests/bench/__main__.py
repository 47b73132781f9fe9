"""Measure everything and write it down: python -m tests.bench [FILE]."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import live, windows

from moirae.adapters.spark.session import spark_session
from moirae.config import load_config

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "docs" / "benchmarks.md"
_TEXT = """\
# Benchmarks

Written by `make bench` on {date}: {machine}. Speeds depend on the machine; ratios are of one run, side by side,
and what is compared gave the same answers.

## Windowed aggregates by key

count, avg and max of {rows:,} rows in {batches} micro-batches, from landing files to closed windows, in thousands of
rows a second of the typical batch. *Query*: the query alone; *live*: with the rows archived as well; *Spark*: its own
`groupBy(window)` over the same files; *replay*: the archived chunk through the same query again, the better of two.

| files | keys | window | query | live | Spark | query : Spark | replay |
|---|---:|---|---:|---:|---:|---:|---:|
{speeds}

## From a row to what people see

{live.ROWS_PER_S:,} rows a second in {live.FILES_PER_S} files, for {live.MEASURED_S} s after {live.WARM_S} s, over
{history:,} rows of history in {chunks} chunks. Both applications run as under the supervisor; another process looks
every 10 ms.

| from | to | events | p50 | p99 |
|---|---|---:|---:|---:|
{delays}
"""


def main(argv: Sequence[str]) -> int:
    target = Path(argv[0]) if argv else DOC
    config = load_config(ROOT / "config" / "embedded.yaml", environment={}, overrides={"spark.driver_memory": "4 GiB"})
    delays = _live()
    speeds = []
    with spark_session("bench", config) as spark:
        for each in windows.measure_all(spark, config.engine.buckets):
            speeds.append(each)
            _say(_speed_row(each))
    target.write_text(_report(config.spark.cores, speeds, delays))
    _say(f"written to {target}")
    return 0


def _live() -> live.Delays:
    with tempfile.TemporaryDirectory(prefix="moirae-bench-") as folder:
        delays = live.measure(Path(folder))
    for row in _delay_rows(delays):
        _say(row)
    return delays


def _report(cores: int, speeds: Sequence[windows.Speeds], delays: live.Delays) -> str:
    heads = {
        "rows": windows.BATCHES * windows.FILES_PER_BATCH * windows.ROWS_PER_FILE,
        "batches": windows.BATCHES,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": f"{_machine()}, Spark on {cores} cores",
        "live": live,
        "history": delays.history_rows,
        "chunks": delays.chunks,
        "speeds": "\n".join(map(_speed_row, speeds)),
        "delays": "\n".join(_delay_rows(delays)),
    }
    return _TEXT.format(**heads)


def _speed_row(speeds: windows.Speeds) -> str:
    case = speeds.case
    figures = [f"{value / 1000:,.0f}" for value in (speeds.query, speeds.live, speeds.spark)]
    window = " every ".join(case.window)
    ratio, replay = f"**{speeds.ratio:.1f}**", f"{speeds.replay / 1000:,.0f}"
    return f"| {' | '.join([case.form, f'{case.keys:,}', window, *figures, ratio, replay])} |"


def _delay_rows(delays: live.Delays) -> list[str]:
    return [
        _delay_row("file landed", "event of a filter visible", delays.filter_visible),
        _delay_row("file that closes a window landed", "event of the window visible", delays.window_visible),
        _delay_row("event visible", "first recalled answer", delays.first_answer),
        _delay_row("event visible", "last recalled answer, all chunks read", delays.last_answer),
    ]


def _delay_row(start: str, end: str, values: list[float]) -> str:
    middle, high = live.percentiles(values)
    return f"| {start} | {end} | {len(values)} | {middle:.2f} s | {high:.2f} s |"


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.machine()}, Python {platform.python_version()}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
