"""The life of chunks on a store filled by detection, and what recalls read of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.spark.store import DAY, END, ROOT, Store, archive, detect_all, open_store, simulate

from moirae.adapters.delta import latest_version, read_table
from moirae.adapters.quality import expectations_gate
from moirae.adapters.recalling import RecallHistory
from moirae.adapters.spark.lifecycle import Lifecycle
from moirae.simulator import STREAMS

BAD_ROWS = '{"at": "2024-10-03T01:00:00Z", "server": "srv-01", "bytes": -5}\n'


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two days in chunks of about half a day, with one row that is well-formed but impossible."""
    opened = open_store(tmp_path_factory.mktemp("life"), ingest__max_files_per_batch="6", history__chunk_age="12 hours")
    written = simulate(opened, 2.0, rows_per_file=1500)
    _spoil(sorted((Path(opened.config.ingest.landing) / "traffic").iterdir())[2])
    detect_all(spark, opened)
    yield replace(opened, written=written)
    opened.catalog.close()


def _spoil(path: Path) -> None:
    """Two rows more, their times those of the last good one."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    lines = path.read_text().splitlines()
    good = next(line for line in reversed(lines) if '"bytes"' in line and line.endswith("}") and "null" not in line)
    odd = json.dumps(json.loads(good) | {"bytes": -5})
    path.write_text("\n".join([*lines, odd, odd, ""]))
    os.utime(path, ns=times)


def _life(store: Store, spark: SparkSession) -> Lifecycle:
    return Lifecycle(store.catalog, store.config, END + 30 * DAY, None, lambda: spark)


def _run(store: Store, spark: SparkSession) -> dict[str, object]:
    life = _life(store, spark)
    fields = life.seal() | life.check(lambda: expectations_gate(store.catalog, store.config))
    return fields | life.compact() | life.retier()


@pytest.mark.spark
def test_rows_roll_into_several_chunks_and_none_is_lost(store: Store) -> None:
    """M7: chunks roll by themselves while rows come in; landed = archived + late + quarantined."""
    assert store.written is not None
    for name in STREAMS:
        truth, counts = store.written.streams[name], store.catalog.totals()[name]
        extra = 2 if name == "traffic" else 0
        assert counts.landed == truth.lines + extra == counts.archived + counts.late + counts.quarantined
        assert archive(store, name).num_rows == counts.archived == sum(c.rows for c in store.catalog.chunks(name))
    assert len(store.catalog.chunks("traffic")) >= 3


@pytest.mark.spark
def test_recalled_figures_equal_sparks_over_the_covered_interval(store: Store, spark: SparkSession) -> None:
    """M2, M14: mean and stddev after every turn, and over the whole archive after the last."""
    moments = count(END, DAY)  # every turn is due to be told
    recalling = RecallHistory(store.catalog, store.config, clock=lambda: next(moments))
    while recalling.turn():
        pass
    frames = {
        name: spark.createDataFrame(archive(store, name).select(["at", "server", column]))
        for name, column in (("traffic", "bytes"), ("heartbeats", "rtt_ms"))
    }
    compared = 0
    for query, stream, column in (("bandwidth_flood", "traffic", "bytes"), ("rack_switch", "heartbeats", "rtt_ms")):
        for event in store.catalog.events(query, limit=3):
            server = json.loads(event.columns)["server"]
            revisions = store.catalog.revisions(event.eid)
            assert revisions[-1].complete
            assert [revision.chunks_done for revision in revisions] == list(range(1, len(revisions) + 1))
            borders = [(revision.covered_from or 0, revision.covered_to or 0) for revision in revisions]
            assert borders == sorted(borders, reverse=True)
            for revision, (lo, hi) in zip(revisions, borders, strict=True):
                at = F.unix_micros("at")
                inside = (at >= lo) & (at < hi) & (F.col("server") == server)
                mean, spread = frames[stream].where(inside).agg(F.avg(column), F.stddev(column)).collect()[0]
                (row,) = json.loads(revision.answer)["rows"]
                assert row["mean"] == pytest.approx(mean, rel=1e-12)
                assert row["spread"] == pytest.approx(spread, rel=1e-9)
                compared += 1
    assert compared >= 12
    told = recalling.answers.publish()
    assert told == sum(len(store.catalog.revisions(event.eid)) for event in store.catalog.events(limit=100_000))
    assert read_table(recalling.answers.place).num_rows == told


@pytest.mark.spark
def test_killed_in_compaction_no_reader_sees_a_half_chunk(store: Store, spark: SparkSession) -> None:
    """M7, P3: the pointer moves only after the new generation is whole."""
    life = _life(store, spark)
    life.seal()
    checked = life.check(lambda: expectations_gate(store.catalog, store.config))
    assert set(checked["checked"].values()) == {"passed"}  # type: ignore[attr-defined]
    before = {name: archive(store, name) for name in STREAMS}
    for point in ("compacting", "compacted"):
        command = [sys.executable, "-m", "tests.spark.lifecycle_worker", str(store.config.store.path), point]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == -9, done.stderr[-3000:]
        assert {name: archive(store, name) for name in STREAMS} == before
    life.compact()
    for name in STREAMS:
        after = archive(store, name)
        good = before[name]
        if name == "traffic":
            good = good.filter(pc.greater_equal(good["bytes"], 0))
        assert after.equals(good)
        assert {c.generation for c in store.catalog.chunks(name, ["sealed"])} == {1}


@pytest.mark.spark
def test_rows_that_break_a_rule_are_put_aside_with_their_reason(store: Store) -> None:
    """P4: the row is in quarantine's form with its source; the chunk is served without it."""
    rejected = [c for c in store.catalog.chunks("traffic") if latest_version(_aside(store, c.id)) is not None]
    (chunk,) = rejected
    rows = read_table(_aside(store, chunk.id)).to_pylist()
    assert len(rows) == 2
    assert rows[1]["line"] == rows[0]["line"] + 1
    assert {row["reason"] for row in rows} == {"bytes: expected values to be between (min_value 0)"}
    assert all(row["file"].endswith(".jsonl") and '"bytes":-5' in row["text"] for row in rows)


def _aside(store: Store, chunk_id: str) -> str:
    return f"{store.config.store.place}/rejected/{chunk_id}"


@pytest.mark.spark
def test_a_second_run_changes_nothing(store: Store, spark: SparkSession) -> None:
    """P1: every step is idempotent."""
    _run(store, spark)
    before = store.catalog.chunks()
    again = _run(store, spark)
    assert again == {"sealed": [], "checked": {}, "compacted": {}, "moved": {}}
    assert store.catalog.chunks() == before
    tiers = [chunk.tier for chunk in store.catalog.chunks("traffic")]
    assert tiers == sorted(tiers, key=["old", "recent", "present"].index)


@pytest.mark.spark
def test_a_chunk_with_too_many_bad_rows_is_held_back(spark: SparkSession, tmp_path: Path) -> None:
    """P4: it is not served, and the report says why."""
    store = open_store(tmp_path)
    landing = Path(store.config.ingest.landing) / "traffic"
    landing.mkdir(parents=True)
    (landing / "a.jsonl").write_text(BAD_ROWS + BAD_ROWS.replace("-5", "5"))
    detect_all(spark, store)
    life = _life(store, spark)
    life.seal()
    outcome = life.check(lambda: expectations_gate(store.catalog, store.config))
    (chunk,) = store.catalog.chunks("traffic", ["held"])
    assert chunk.check_result == "failed"
    assert "values_to_be_between bytes" in chunk.check_reason
    assert life.compact() == {"compacted": {}}
    assert "held back" in str(outcome)
    assert list(life.report()["held"]) == [chunk.id]  # type: ignore[call-overload]
