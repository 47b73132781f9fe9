"""Windowed averages by key: Moirae's stream engine against Spark's own groupBy(window), and the replay of a chunk.

Both read the same files in the same batches on the same cores and carry their state from batch to batch. Spark's
results go nowhere; Moirae is measured once like that and once as it runs live, archiving the rows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress

from moirae.adapters.batch.outcome import outcome_of
from moirae.adapters.batch.replay import replay_chunk
from moirae.adapters.batch.settling import Places
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.state_files import StateFiles
from moirae.adapters.batch.step import Step, read_files, run_step
from moirae.adapters.batch.tables import stored_schema
from moirae.adapters.batch.workers import on_spark
from moirae.adapters.delta import commit_files, latest_version
from moirae.adapters.spark.arrivals import arrivals_of, watch_landing
from moirae.engine.arrival import watermark_of
from moirae.engine.pieces import ARCHIVE, FILE, FileReader
from moirae.engine.placing import Standing, place_files
from moirae.lang import bind
from moirae.model.json_text import iso_times
from moirae.plan import plan_program

PACK = """
CREATE STREAM rows (at TIMESTAMP, key STRING, value DOUBLE) ORDER BY at LATENESS '10 seconds' FROM LANDING 'rows';
CREATE EVENT means AS SELECT key, count(*) AS n, avg(value) AS mean, max(value) AS most
FROM rows GROUP BY key, window(at, '1 minute') HAVING count(*) > 0;
"""
CSV, JSON = "csv", "json"
BATCHES, FILES_PER_BATCH, ROWS_PER_FILE = 4, 12, 250_000
_MINUTE = 60_000_000


@dataclass(frozen=True)
class Speeds:
    """Rows a second."""

    form: str
    keys: int
    query: float  # Moirae, the query alone
    live: float  # Moirae, rows archived as well
    spark: float
    replay: float

    @property
    def ratio(self) -> float:
        return self.query / self.spark


def measure(spark: SparkSession, form: str, keys: int, folder: Path, buckets: int) -> Speeds:
    """The typical batch after the first, which warms each."""
    landing = folder / "landing"
    _write(landing / "rows", form, keys)
    query = _Ours(spark, landing, folder / "query", buckets, archive=False)
    live = _Ours(spark, landing, folder / "live", buckets, archive=True)
    sparks = _Groups(spark, form, landing, folder / "spark")
    for each in (query, live, sparks):
        each.run()
    assert query.windows == live.windows, f"{query.windows} windows without the archive, {live.windows} with it"
    assert abs(sparks.windows - live.windows) <= keys, f"Spark closed {sparks.windows} windows, Moirae {live.windows}"
    return Speeds(form, keys, _speed(query.took), _speed(live.took), _speed(sparks.took), live.replay())


def _speed(times: list[float]) -> float:
    assert len(times) == BATCHES, f"expected {BATCHES} batches, but found {len(times)}"
    return FILES_PER_BATCH * ROWS_PER_FILE / float(np.median(times[1:]))


def _write(folder: Path, form: str, keys: int) -> None:
    """A minute a batch, so that windows close in every batch."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    for number in range(BATCHES * FILES_PER_BATCH):
        at = np.sort(random.integers(0, _MINUTE, ROWS_PER_FILE)) + number // FILES_PER_BATCH * _MINUTE
        names = pa.array(random.integers(0, keys, ROWS_PER_FILE)).cast(pa.string())
        values = pa.array(random.integers(0, 1_000_000, ROWS_PER_FILE) / 1000).cast(pa.string())
        times = iso_times(pa.array(at, pa.timestamp("us", tz="UTC")))
        if form == CSV:
            header, parts = ["at,key,value"], [times, ",k", names, ",", values]
        else:
            header, parts = [], ['{"at":"', times, '","key":"k', names, '","value":', values, "}"]
        lines = pc.binary_join_element_wise(*parts, "").to_pylist()
        (folder / f"{number:03d}.{form}").write_text("\n".join([*header, *lines, ""]))


class _Ours:
    def __init__(self, spark: SparkSession, landing: Path, folder: Path, buckets: int, *, archive: bool) -> None:
        pack = bind(PACK)
        self.spark, self.workers, self.archive = spark, on_spark(spark), archive
        self.buckets, self.program = buckets, plan_program(pack)
        (self.stream,) = pack.streams
        self.reader = FileReader(str(landing), pack.streams, self.program.operators, buckets)
        self.root, self.chunk = str(folder), str(folder / "chunk")
        self.spill, self.states = Spill(f"{folder}/spill"), StateFiles(f"{folder}/state")
        self.standing = Standing()
        self.took: list[float] = []
        self.windows = 0

    def run(self) -> None:
        files = watch_landing(self.spark, self.reader.landing, FILES_PER_BATCH)
        writer = files.writeStream.foreachBatch(self.batch).trigger(availableNow=True)
        query = writer.option("checkpointLocation", f"{self.root}/checkpoint").start()
        query.awaitTermination()
        self.took = _batch_times(query.recentProgress)

    def batch(self, files: DataFrame, batch_id: int) -> None:
        pieces = read_files(self.workers, arrivals_of(files), self.reader, self.spill)
        heads = [piece for piece in pieces if piece.kind == FILE]
        placements, self.standing = place_files(heads, self.standing, {})
        names = [operator.name for operator in self.program.operators]
        step = Step(
            operators=self.program.operators,
            watermarks=dict.fromkeys(names, watermark_of(self.standing.newest["rows"], self.stream.lateness_us)),
            streams={"rows": self.stream},
            placements=placements,
            buckets=self.buckets,
            places=Places({"rows": self.chunk}, self.root),
            states=self.states,
            batch_id=batch_id,
            begun_from=dict.fromkeys(names, batch_id - 1) if batch_id else {},
        )
        wanted = [piece for piece in pieces if self.archive or piece.kind != ARCHIVE]
        outcome = outcome_of(run_step(self.workers, wanted, step, self.spill))
        if self.archive:
            files_written = outcome.archived["rows"].files
            commit_files(self.chunk, stored_schema(self.stream), files_written, "bench", batch_id)
        self.spill.clear()
        self.windows += sum(table.num_rows for _, table in outcome.events)

    def replay(self) -> float:
        """Rows a second of the whole chunk, best of two."""
        (operator,) = self.program.operators
        version = latest_version(self.chunk)
        assert version is not None, "the rows were archived"
        took = []
        for _ in range(2):
            began = time.perf_counter()
            found = replay_chunk(self.workers, self.chunk, version, operator, self.buckets, self.spill)
            took.append(time.perf_counter() - began)
            self.spill.clear()
        assert sum(each.rows for each in found) >= self.windows, "a replay closes every window"
        return BATCHES * FILES_PER_BATCH * ROWS_PER_FILE / min(took)


class _Groups:
    """Spark's way."""

    def __init__(self, spark: SparkSession, form: str, landing: Path, folder: Path) -> None:
        self.spark, self.form, self.landing, self.folder = spark, form, str(landing), folder
        self.took: list[float] = []
        self.windows = 0

    def run(self) -> None:
        source = self.spark.readStream.schema("at timestamp, key string, value double")
        source = source.option("recursiveFileLookup", "true").option("maxFilesPerTrigger", FILES_PER_BATCH)
        means = (
            source.option("header", "true")
            .format(self.form)
            .load(self.landing)
            .withWatermark("at", "10 seconds")
            .groupBy("key", F.window("at", "1 minute"))
            .agg(F.count("*").alias("n"), F.avg("value").alias("mean"), F.max("value").alias("most"))
        )
        writer = means.writeStream.outputMode("append").foreachBatch(self.count).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.folder / "checkpoint")).start()
        query.awaitTermination()
        self.took = _batch_times(query.recentProgress)

    def count(self, frame: DataFrame, batch_id: int) -> None:
        self.windows += frame.toArrow().num_rows


def _batch_times(progress: list[StreamingQueryProgress]) -> list[float]:
    """Seconds of each micro-batch by Spark's own clock."""
    return [each["durationMs"]["triggerExecution"] / 1000 for each in progress if each["numInputRows"]]
