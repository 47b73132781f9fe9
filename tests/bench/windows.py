"""Windowed aggregates by key: Moirae's stream engine against Spark's own groupBy(window), and the replay of a chunk.

Both read the same files in the same micro-batches on the same cores, carry their state from batch to batch and hand
their results to the driver, where they are compared. Moirae is measured twice: the query alone, which is what Spark
does, and as it runs live, archiving the rows as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

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
from moirae.engine.blob import read_ipc
from moirae.engine.pieces import ARCHIVE, FILE, FileReader, Piece
from moirae.engine.placing import Standing, place_files
from moirae.lang import bind
from moirae.model.json_text import iso_times
from moirae.plan import plan_program

PACK = """
CREATE STREAM rows (at TIMESTAMP, key STRING, value DOUBLE) ORDER BY at LATENESS '10 seconds' FROM LANDING 'rows';
CREATE EVENT means AS SELECT key, count(*) AS n, avg(value) AS mean, max(value) AS most
FROM rows GROUP BY key, window(at, {window}) HAVING count(*) > 0;
"""
CSV, JSON = "csv", "json"
TUMBLING, HOPPING = ("1 minute",), ("5 minutes", "1 minute")
BATCHES, FILES_PER_BATCH, ROWS_PER_FILE = 4, 16, 250_000
_MINUTE = 60_000_000


@dataclass(frozen=True)
class Case:
    form: str
    keys: int
    window: tuple[str, ...]


CASES = (
    Case(JSON, 100, TUMBLING),
    Case(JSON, 100_000, TUMBLING),
    Case(CSV, 100, TUMBLING),
    Case(CSV, 100_000, TUMBLING),
    Case(JSON, 100_000, HOPPING),
)


@dataclass(frozen=True)
class Speeds:
    """Rows a second."""

    case: Case
    query: float  # Moirae, the query alone
    live: float  # Moirae, rows archived as well
    spark: float
    replay: float

    @property
    def ratio(self) -> float:
        return self.query / self.spark


def measure_all(spark: SparkSession, buckets: int) -> Iterator[Speeds]:
    for case in CASES:
        with TemporaryDirectory(prefix="moirae-bench-") as folder:
            yield measure(spark, case, Path(folder), buckets)


def measure(spark: SparkSession, case: Case, folder: Path, buckets: int) -> Speeds:
    """The typical batch after the first, which warms each."""
    landing = folder / "landing"
    _write(landing / "rows", case)
    query = _Ours(spark, case, landing, folder / "query", buckets, archive=False)
    live = _Ours(spark, case, landing, folder / "live", buckets, archive=True)
    sparks = _Groups(spark, case, landing, folder / "spark")
    for each in (query, live, sparks):
        each.run()
    _compare(query.windows, live.windows)
    _compare(query.windows, sparks.windows)
    return Speeds(case, _speed(query.took), _speed(live.took), _speed(sparks.took), live.replay())


Windows = dict[int, tuple[int, int, float, float]]  # by end: keys, rows, sums of the means and of the greatest values


def _compare(ours: Windows, sparks: Windows) -> None:
    """Spark closes a window a batch later, so it may have fewer at the end. Sums are equal up to their rounding."""
    assert set(sparks) <= set(ours), f"Moirae closed {sorted(ours)}, Spark {sorted(sparks)}"
    assert len(sparks) >= len(ours) - 1 >= 1, f"Moirae closed {sorted(ours)}, Spark {sorted(sparks)}"
    for end, theirs in sparks.items():
        assert np.allclose(ours[end], theirs, rtol=1e-9, atol=0), f"window {end}: Moirae {ours[end]}, Spark {theirs}"


def _add(windows: Windows, found: Windows) -> None:
    assert not set(windows) & set(found), f"closed twice: {sorted(set(windows) & set(found))}"
    windows |= found


def _summary(table: pa.Table) -> Windows:
    """Of closed windows with columns `at`, `n`, `mean`, `most`."""
    grouped = table.group_by("at").aggregate([("n", "count"), ("n", "sum"), ("mean", "sum"), ("most", "sum")])
    ends = grouped["at"].cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    figures = [grouped[name].to_pylist() for name in ("n_count", "n_sum", "mean_sum", "most_sum")]
    return dict(zip(ends, zip(*figures, strict=True), strict=True))


def _speed(times: list[float]) -> float:
    assert len(times) == BATCHES, f"expected {BATCHES} batches, but found {len(times)}"
    return FILES_PER_BATCH * ROWS_PER_FILE / float(np.median(times[1:]))


def _write(folder: Path, case: Case) -> None:
    """A minute a batch, so that windows close in every batch; a file goes on where the one before it ended."""
    folder.mkdir(parents=True)
    random, span = np.random.default_rng(7), _MINUTE // FILES_PER_BATCH
    for number in range(BATCHES * FILES_PER_BATCH):
        at = np.sort(random.integers(number * span, (number + 1) * span, ROWS_PER_FILE))
        names = pa.array(random.integers(0, case.keys, ROWS_PER_FILE)).cast(pa.string())
        values = pa.array(random.integers(0, 1_000_000, ROWS_PER_FILE) / 1000).cast(pa.string())
        times = iso_times(pa.array(at, pa.timestamp("us", tz="UTC")))
        if case.form == CSV:
            header, parts = ["at,key,value"], [times, ",k", names, ",", values]
        else:
            header, parts = [], ['{"at":"', times, '","key":"k', names, '","value":', values, "}"]
        lines = pc.binary_join_element_wise(*parts, "").to_pylist()
        (folder / f"{number:03d}.{case.form}").write_text("\n".join([*header, *lines, ""]))


class _QueryOnly(FileReader):
    """Reads what the queries need, as Spark's own query does."""

    def read(self, path: str, file_time: int, content: bytes) -> Iterator[Piece]:
        return (piece for piece in super().read(path, file_time, content) if piece.kind != ARCHIVE)


class _Ours:
    """The passes of a live micro-batch, with nothing but the query, or with the archive too."""

    def __init__(
        self, spark: SparkSession, case: Case, landing: Path, folder: Path, buckets: int, *, archive: bool
    ) -> None:
        pack = bind(PACK.format(window=", ".join(f"'{part}'" for part in case.window)))
        self.spark, self.workers, self.archive = spark, on_spark(spark), archive
        self.program = plan_program(pack)
        (self.stream,) = pack.streams
        reader = FileReader if archive else _QueryOnly
        self.reader = reader(str(landing), pack.streams, self.program.operators, buckets)
        self.root, self.chunk = str(folder), str(folder / "chunk")
        self.spill, self.states = Spill(f"{folder}/spill"), StateFiles(f"{folder}/state")
        self.standing = Standing()
        self.took: list[float] = []
        self.windows: Windows = {}

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
            buckets=self.reader.buckets,
            places=Places({"rows": self.chunk}, self.root),
            states=self.states,
            batch_id=batch_id,
            begun_from=dict.fromkeys(names, batch_id - 1) if batch_id else {},
        )
        outcome = outcome_of(run_step(self.workers, pieces, step, self.spill))
        if self.archive:
            files_written = outcome.archived["rows"].files
            commit_files(self.chunk, stored_schema(self.stream), files_written, "bench", batch_id)
        self.spill.clear()
        if outcome.events:
            _add(self.windows, _summary(pa.concat_tables([table for _, table in outcome.events])))

    def replay(self) -> float:
        """Rows a second of the whole chunk, best of two."""
        (operator,) = self.program.operators
        version = latest_version(self.chunk)
        assert version is not None, "the rows were archived"
        took = []
        for _ in range(2):
            began = time.perf_counter()
            found = replay_chunk(self.workers, self.chunk, version, operator, self.reader.buckets, self.spill)
            took.append(time.perf_counter() - began)
            self.spill.clear()
        again = _summary(pa.concat_tables([read_ipc(each.payload) for each in found]))
        _compare({end: again[end] for end in sorted(again)[: len(self.windows)]}, self.windows)
        assert sum(rows for _, rows, *_ in again.values()) % (BATCHES * FILES_PER_BATCH * ROWS_PER_FILE) == 0
        return BATCHES * FILES_PER_BATCH * ROWS_PER_FILE / min(took)


class _Groups:
    """Spark's way."""

    def __init__(self, spark: SparkSession, case: Case, landing: Path, folder: Path) -> None:
        self.spark, self.case, self.landing, self.folder = spark, case, str(landing), folder
        self.took: list[float] = []
        self.windows: Windows = {}

    def run(self) -> None:
        source = self.spark.readStream.schema("at timestamp, key string, value double")
        source = source.option("recursiveFileLookup", "true").option("maxFilesPerTrigger", FILES_PER_BATCH)
        means = (
            source.option("header", "true")
            .format(self.case.form)
            .load(self.landing)
            .withWatermark("at", "10 seconds")
            .groupBy("key", F.window("at", *self.case.window))
            .agg(F.count("*").alias("n"), F.avg("value").alias("mean"), F.max("value").alias("most"))
            .select("key", F.col("window.end").alias("at"), "n", "mean", "most")
        )
        writer = means.writeStream.outputMode("append").foreachBatch(self.count).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.folder / "checkpoint")).start()
        query.awaitTermination()
        self.took = _batch_times(query.recentProgress)

    def count(self, frame: DataFrame, batch_id: int) -> None:
        found = frame.toArrow()
        if found.num_rows:
            _add(self.windows, _summary(found))


def _batch_times(progress: list[StreamingQueryProgress]) -> list[float]:
    """Seconds of each micro-batch by Spark's own clock."""
    return [each["durationMs"]["triggerExecution"] / 1000 for each in progress if each["numInputRows"]]
