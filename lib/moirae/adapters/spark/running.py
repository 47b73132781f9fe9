"""`moirae run` on Spark: the whole input as one batch, or as a real stream of small ones."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from moirae.adapters.spark.buckets import Step, piece_heads, read_pieces, run_step
from moirae.adapters.spark.session import make_session
from moirae.adapters.spark.settling import ARCHIVED, EVENTS
from moirae.adapters.spark.state_files import StateFiles
from moirae.config import load_config
from moirae.engine.arrival import watermark_of
from moirae.engine.blob import read_ipc
from moirae.engine.host import sort_events
from moirae.engine.pieces import FILE, FileReader
from moirae.engine.placing import Placement, Standing, archive_schema, place_files
from moirae.plan import Program
from moirae.ports.kernel import END_OF_TIME, NO_WATERMARK

_FILES = "path string, modificationTime timestamp, length bigint, content binary"


def run_on_spark(
    engine: str, program: Program, reader: FileReader, scratch: str
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Events by query and rows taken by stream; the session stays for the next run in this process."""
    config = load_config()
    spark = make_session("moirae run", config)
    spread = FileReader(reader.landing, reader.streams, reader.operators, config.engine.buckets)
    work = _SparkRun(spark, program, spread, StateFiles(f"{scratch}/state") if engine == "stream" else None)
    if engine == "batch":
        work.batch(spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(reader.landing), 0)
    else:
        _stream(spark, work, scratch)
    return work.result()


def _stream(spark: SparkSession, work: _SparkRun, scratch: str) -> None:
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", "1")
        .load(work.reader.landing)
    )
    writer = files.writeStream.foreachBatch(work.batch).trigger(availableNow=True)
    query = writer.option("checkpointLocation", f"{scratch}/checkpoint").start()
    query.awaitTermination()
    work.flush()


class _SparkRun:
    """Collects what each batch finds. Without state files there is one batch, and it is the last."""

    def __init__(self, spark: SparkSession, program: Program, reader: FileReader, states: StateFiles | None) -> None:
        self.spark, self.program, self.reader, self.states = spark, program, reader, states
        self.standing = Standing()
        self.begun_from: dict[str, int] = {}
        self.events: dict[str, list[pa.Table]] = {}
        self.archive: dict[str, list[pa.Table]] = {}
        self.last_batch = -1

    def batch(self, files: DataFrame, batch_id: int) -> None:
        pieces = read_pieces(files, self.reader).persist()
        heads = [piece for piece in piece_heads(pieces) if piece.kind == FILE]
        placements, self.standing = place_files(heads, self.standing, {})
        self._run(pieces, placements, batch_id, end=self.states is None)
        pieces.unpersist()

    def flush(self) -> None:
        """No more rows will come."""
        none = read_pieces(self.spark.createDataFrame([], _FILES), self.reader)
        self._run(none, {}, self.last_batch + 1, end=True)

    def result(self) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
        queries = [query for operator in self.program.operators for query in operator.queries]
        events = {
            query.name: sort_events(
                pa.concat_tables([query.definition.schema.arrow.empty_table(), *self.events.get(query.name, [])])
            )
            for query in queries
        }
        archive = {
            stream.name: pa.concat_tables([archive_schema(stream).empty_table(), *self.archive.get(stream.name, [])])
            for stream in self.reader.streams
        }
        return events, archive

    def _run(self, pieces: DataFrame, placements: dict[str, Placement], batch_id: int, *, end: bool) -> None:
        watermarks = {
            operator.name: END_OF_TIME
            if end
            else watermark_of(self.standing.newest.get(operator.stream.name, NO_WATERMARK), operator.stream.lateness_us)
            for operator in self.program.operators
        }
        step = Step(
            program=self.program,
            streams={stream.name: stream for stream in self.reader.streams},
            placements=placements,
            watermarks=watermarks,
            buckets=self.reader.buckets,
            states=self.states,
            batch_id=batch_id,
            begun_from=self.begun_from,
        )
        for row in run_step(self.spark, pieces, step).toArrow().to_pylist():
            if row["kind"] == EVENTS:
                self.events.setdefault(row["name"], []).append(read_ipc(row["payload"]))
            elif row["kind"] == ARCHIVED:
                self.archive.setdefault(row["name"], []).append(read_ipc(row["payload"]).drop_columns(["_file"]))
        self.begun_from = dict.fromkeys(watermarks, batch_id)
        self.last_batch = batch_id
