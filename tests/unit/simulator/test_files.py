"""Landing files: the same bytes for the same spec, whole, in one order, and counted exactly."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from moirae.errors import ConfigError, PlatformError
from moirae.simulator import STREAMS, Incident, Spec, incidents, read_incidents, simulate_tables, write_history
from moirae.simulator.lines import MALFORMED
from moirae.simulator.spec import DAY, HOUR, LATENESS

MONDAY = 20_640 * DAY
SPEC = Spec(seed=8, start_us=MONDAY, end_us=MONDAY + DAY, servers=6, racks=2, late_rate=0.05, malformed_rate=0.02)


def files(folder: Path, stream: str) -> list[Path]:
    return sorted((folder / stream).iterdir())


def lines(folder: Path, stream: str) -> list[str]:
    return [line for file in files(folder, stream) for line in file.read_text("utf-8").splitlines()]


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def parsed(stream: str, line: str) -> dict[str, Any] | None:
    """The slow, obvious reader: a row, or None for a malformed line."""
    try:
        row = json.loads(line)
        row["at"] = micros(row["at"])
        assert [type(row[c.name]) in (int, float) for c in STREAMS[stream]] == [
            c.name not in ("server", "user", "outcome", "name") for c in STREAMS[stream]
        ]
    except (ValueError, KeyError, TypeError, AssertionError):
        return None
    return dict(row)


def digest(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_the_same_spec_gives_the_same_bytes(tmp_path: Path) -> None:
    """P8: files, names, servers and truth are equal in two runs, and others for another seed."""
    for run in ("a", "b"):
        write_history(SPEC, tmp_path / run / "landing", rows_per_file=1_000)
    write_history(replace(SPEC, seed=9), tmp_path / "c" / "landing", rows_per_file=1_000)
    first = digest(tmp_path / "a")
    assert {"truth.json", "tables/servers.csv"} < set(first)
    assert first == digest(tmp_path / "b")
    assert first != digest(tmp_path / "c")


def test_clean_lines_are_the_clean_rows(tmp_path: Path) -> None:
    """P8: late and malformed rows are laid over the rows of the tables; none is lost or changed."""
    write_history(SPEC, tmp_path / "landing", rows_per_file=1_000)
    for stream, table in simulate_tables(SPEC).items():
        found = [row for line in lines(tmp_path / "landing", stream) if (row := parsed(stream, line))]
        whole = table.set_column(0, "at", table["at"].cast("int64")).to_pylist()
        assert Counter(tuple(r.values()) for r in found) == Counter(tuple(r.values()) for r in whole)


def test_the_truth_counts_are_those_of_a_slow_reader(tmp_path: Path) -> None:
    """P8: clean, late and malformed rows exactly, lateness judged in order of arrival."""
    written = write_history(SPEC, tmp_path / "landing", rows_per_file=777)
    truth = json.loads(written.truth.read_text("utf-8"))
    for stream, counts in truth["streams"].items():
        newest, late, bad = -1, 0, 0
        for line in lines(tmp_path / "landing", stream):
            row = parsed(stream, line)
            bad += row is None
            late += row is not None and row["at"] < newest - LATENESS
            newest = newest if row is None else max(newest, row["at"])
        assert (counts["late"], sum(counts["malformed"].values())) == (late, bad)
        assert counts["clean"] + bad == counts["lines"] == len(lines(tmp_path / "landing", stream))
        assert counts["files"] == len(files(tmp_path / "landing", stream))
        assert late > 0


def test_late_rows_come_within_and_beyond_the_lateness(tmp_path: Path) -> None:
    """P8: at the set rate; about half are beyond a minute for a delay of up to two."""
    written = write_history(SPEC, tmp_path / "landing")
    for stream, counts in written.streams.items():
        rows = [row for line in lines(tmp_path / "landing", stream) if (row := parsed(stream, line))]
        times = [row["at"] for row in rows]
        moved = sum(later < earlier for earlier, later in pairwise(times))
        assert counts.late < moved
        assert 0.01 < counts.late / counts.clean < 0.04


def test_each_malformed_kind_comes_at_the_set_rate(tmp_path: Path) -> None:
    """P8: broken JSON, missing or null time, wrong type, garbage; none can be read as a row."""
    written = write_history(SPEC, tmp_path / "landing")
    for counts in written.streams.values():
        assert sum(counts.malformed.values()) == pytest.approx(0.02 * counts.clean, rel=0.4)
    total = Counter[str]()
    for counts in written.streams.values():
        total.update(counts.malformed)
    assert set(total) == set(MALFORMED)
    assert min(total.values()) > 20


def test_names_and_times_of_change_follow_the_arrival(tmp_path: Path) -> None:
    """P2: a reader by name and a reader by time of change see one order, across streams at the millisecond."""
    landing = tmp_path / "landing"
    write_history(SPEC, landing, rows_per_file=200)
    changed = [path.stat().st_mtime_ns // 1_000_000 for stream in STREAMS for path in files(landing, stream)]
    assert len(set(changed)) == len(changed)
    for stream in STREAMS:
        times = [path.stat().st_mtime_ns for path in files(landing, stream)]
        assert len(times) > 3
        assert times == sorted(set(times))
        assert all(path.read_bytes().endswith(b"\n") for path in files(landing, stream))
        assert all(len(path.read_text("utf-8").splitlines()) == 200 for path in files(landing, stream)[:-1])


def test_files_are_cut_anywhere_in_the_same_lines(tmp_path: Path) -> None:
    """P2: rows a file changes the files, never the lines or the counts."""
    one = write_history(SPEC, tmp_path / "a" / "landing", rows_per_file=10_000_000)
    many = write_history(SPEC, tmp_path / "b" / "landing", rows_per_file=99)
    for stream in STREAMS:
        assert len(files(tmp_path / "a" / "landing", stream)) == 1
        assert lines(tmp_path / "a" / "landing", stream) == lines(tmp_path / "b" / "landing", stream)
        assert replace(one.streams[stream], files=0) == replace(many.streams[stream], files=0)


def test_no_faults_means_every_line_in_order_of_time(tmp_path: Path) -> None:
    """P8: rates of nought."""
    calm = replace(SPEC, late_rate=0.0, malformed_rate=0.0)
    written = write_history(calm, tmp_path / "landing")
    assert written.lines == written.clean
    assert not any(counts.late for counts in written.streams.values())
    for stream in STREAMS:
        times = [json.loads(line)["at"] for line in lines(tmp_path / "landing", stream)]
        assert times == sorted(times)


def test_csv_carries_the_same_rows_under_a_header(tmp_path: Path) -> None:
    """P8: the other landing format, malformed lines included."""
    written = write_history(replace(SPEC, format="csv"), tmp_path / "landing", rows_per_file=1_000)
    for stream, counts in written.streams.items():
        good = bad = 0
        for path in files(tmp_path / "landing", stream):
            assert path.suffix == ".csv"
            head, *rows = csv.reader(path.read_text("utf-8").splitlines())
            assert tuple(head) == STREAMS[stream].names
            fine = [_reads(stream, row) for row in rows]
            good, bad = good + sum(fine), bad + len(fine) - sum(fine)
        assert (good, bad) == (counts.clean, sum(counts.malformed.values()))


def _reads(stream: str, row: list[str]) -> bool:
    try:
        values = dict(zip(STREAMS[stream].names, row, strict=True))
        micros(values["at"])
        for column in STREAMS[stream]:
            if column.type.numeric:
                float(values[column.name])
    except ValueError:
        return False
    return True


def test_the_truth_file_gives_the_incidents_back(tmp_path: Path) -> None:
    """P8: with causes, and which of them a query must find."""
    written = write_history(SPEC, tmp_path / "landing", truth=tmp_path / "known.json", tables=tmp_path)
    assert written.truth == tmp_path / "known.json"
    assert (tmp_path / "servers.csv").read_text("utf-8").startswith("server,rack,cpus\ns01,r1,")
    found = incidents(SPEC)
    assert read_incidents(written.truth) == found
    sure: list[Incident] = [i for i in found if i.detectable(SPEC.start_us, SPEC.end_us)]
    assert read_incidents(written.truth, detectable=True) == sure


def test_progress_runs_from_start_to_end(tmp_path: Path) -> None:
    """P8: visible throughout, never backwards."""
    told: list[tuple[int, int]] = []
    write_history(
        SPEC, tmp_path / "landing", rows_per_file=500, progress=lambda done, total: told.append((done, total))
    )
    assert len(told) > 10
    assert told == sorted(told)
    assert told[-1] == (DAY, DAY)


def test_nothing_partial_is_left_or_seen(tmp_path: Path) -> None:
    """P3: files are renamed into place."""
    write_history(SPEC, tmp_path / "landing")
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_a_span_without_rows_writes_no_file(tmp_path: Path) -> None:
    """P8: a microsecond of night holds nothing."""
    written = write_history(replace(SPEC, end_us=MONDAY + 1), tmp_path / "landing")
    assert written.lines == 0
    assert not (tmp_path / "landing").exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """P7: says which file, why, and what to do."""
    (tmp_path / "landing").write_text("in the way", "utf-8")
    with pytest.raises(PlatformError, match=r"landing/.*cannot be written \(.*\); free space or choose"):
        write_history(replace(SPEC, end_us=MONDAY + HOUR), tmp_path / "landing")
    with pytest.raises(ConfigError, match="rows_per_file"):
        write_history(SPEC, tmp_path / "other", rows_per_file=0)
