"""Landing files: whole or not there, and in one order by name and by time of change.

A file is written under `.<name>.tmp` and renamed, so a reader never sees half of one. Its name begins with the arrival
of its first line; its time of change is the arrival of its last, pushed on to be a millisecond after the file before it
(readers on the JVM see milliseconds), whatever stream that was.
"""

from __future__ import annotations

import heapq
import io
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.csv as pc_csv

from moirae.errors import ConfigError, PlatformError
from moirae.simulator.arrivals import Feed, Lines
from moirae.simulator.spec import STREAMS, Spec
from moirae.simulator.tables import servers_table
from moirae.simulator.truth import Counts, Written, truth_text
from moirae.simulator.world import World

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """No progress shown."""


def write_history(
    spec: Spec,
    folder: Path,
    *,
    rows_per_file: int = 50_000,
    progress: Progress = silent,
    tables: Path | None = None,
    truth: Path | None = None,
) -> Written:
    """Fills `<folder>/<stream>/` with the whole span, and writes `<tables>/servers.csv` and the truth file.

    `tables` is `tables/` and `truth` is `truth.json` beside `folder` unless said otherwise. `progress` is told the
    microseconds of simulated time that are done, and all there are.
    """
    if rows_per_file < 1:
        raise ConfigError("simulator", "rows_per_file", f"is {rows_per_file}", "put at least one row in a file")
    world, landing = World.of(spec), Landing(folder, spec.format)
    written = Written(truth or folder.parent / "truth.json", {stream: Counts() for stream in STREAMS})
    write_servers(spec, tables or folder.parent / "tables")
    for stream, lines in _in_order(world, rows_per_file):
        landing.write(stream, lines)
        written = written.plus(stream, lines)
        progress(int(lines.arrival[-1]) - spec.start_us, spec.span_us)
    put(written.truth, truth_text(world, written).encode())
    progress(spec.span_us, spec.span_us)
    return written


def _in_order(world: World, rows_per_file: int) -> Iterator[tuple[str, Lines]]:
    """Files of all streams in the order in which their last lines arrive; holds a block a stream, not the history."""
    sources = [_cut(Feed(world, stream), stream, rows_per_file) for stream in STREAMS]
    return heapq.merge(*sources, key=lambda file: int(file[1].arrival[-1]))


def _cut(feed: Feed, stream: str, rows_per_file: int) -> Iterator[tuple[str, Lines]]:
    while len(lines := feed.rows(rows_per_file)):
        yield stream, lines


class Landing:
    """The landing folder of one run: numbers its files and keeps their times of change apart."""

    def __init__(self, folder: Path, form: str, after_ms: int = 0) -> None:
        self._folder, self._form = folder, form
        self._last_ms, self._number = after_ms, 0

    def write(self, stream: str, lines: Lines) -> Path:
        """One file of lines that must not be empty."""
        self._last_ms = max(self._last_ms + 1, int(lines.arrival[-1]) // 1000)
        path = self._folder / stream / f"{stream}-{stamp(int(lines.arrival[0]))}-{self._number:06d}.{self._form}"
        self._number += 1
        heading = ",".join(STREAMS[stream].names) + "\n" if self._form == "csv" else ""
        put(path, heading.encode(), lines.content, time_ms=self._last_ms)
        return path


def newest_ms(folder: Path) -> int:
    """Time of change of the newest landing file, so that a live stretch goes on behind a history."""
    times = [path.stat().st_mtime_ns for stream in STREAMS for path in (folder / stream).glob("[!.]*")]
    return max(times, default=0) // 1_000_000


def write_servers(spec: Spec, folder: Path) -> Path:
    options = pc_csv.WriteOptions(quoting_style="none", quoting_header="none")
    text = io.BytesIO()
    pc_csv.write_csv(servers_table(spec), text, options)
    return put(folder / "servers.csv", text.getvalue())


def stamp(time_us: int) -> str:
    """
    >>> stamp(1_783_296_001_577_732)
    '20260706T000001.577732'
    """
    return (_EPOCH + timedelta(microseconds=time_us)).strftime("%Y%m%dT%H%M%S.%f")


def put(path: Path, *parts: bytes | memoryview, time_ms: int | None = None) -> Path:
    """The file whole, or not at all."""
    partial = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.writelines(parts)
        if time_ms is not None:
            os.utime(partial, ns=(time_ms * 1_000_000, time_ms * 1_000_000))
        partial.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PlatformError(f"{path}: cannot be written ({reason}); free space or choose another folder") from error
    return path
