"""`moirae run` on Spark: the whole input as one batch, or as a real stream of small ones."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from moirae.adapters.batch.settling import ARCHIVED, EVENTS, LATE
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.state_files import StateFiles
from moirae.adapters.batch.step import Step, read_files, run_step
from moirae.adapters.batch.workers import on_spark
from moirae.adapters.spark.arrivals import arrivals_of, list_landing, watch_landing
from moirae.adapters.spark.session import make_session
from moirae.config import load_config
from moirae.engine.arrival import watermark_of
from moirae.engine.blob import read_ipc
from moirae.engine.host import sort_events
from moirae.engine.left_out import LeftOut
from moirae.engine.pieces import FILE, FileReader, Piece
from moirae.engine.placing import Placement, Standing, archive_schema, place_files
from moirae.plan import Program
from moirae.ports.kernel import END_OF_TIME, NO_WATERMARK


def run_on_spark(
    engine: str, program: Program, reader: FileReader, scratch: str
) -> tuple[dict[str, pa.Table], dict[str, pa.Table], LeftOut]:
    """Events by query, rows taken by stream and what was left out; the session stays for this process's next run."""
    config = load_config()
    spark = make_session("moirae run", config)
    spread = replace(reader, buckets=config.engine.buckets)
    states = StateFiles(f"{scratch}/state") if engine == "stream" else None
    work = _SparkRun(spark, program, spread, Spill(f"{scratch}/spill"), states)
    if engine == "batch":
        work.batch(list_landing(spark, reader.landing), 0)
    else:
        _stream(spark, work, scratch)
    return *work.result(), work.left_out


def _stream(spark: SparkSession, work: _SparkRun, scratch: str) -> None:
    files = watch_landing(spark, work.reader.landing, 1)
    writer = files.writeStream.foreachBatch(work.batch).trigger(availableNow=True)
    query = writer.option("checkpointLocation", f"{scratch}/checkpoint").start()
    query.awaitTermination()
    work.flush()


class _SparkRun:
    """Collects what each batch finds. Without state files there is one batch, and it is the last."""

    def __init__(
        self, spark: SparkSession, program: Program, reader: FileReader, spill: Spill, states: StateFiles | None
    ) -> None:
        self.workers, self.program, self.reader = on_spark(spark), program, reader
        self.spill, self.states = spill, states
        self.standing = Standing()
        self.begun_from: dict[str, int] = {}
        self.events: dict[str, list[pa.Table]] = {}
        self.archive: dict[str, list[pa.Table]] = {}
        self.left_out = LeftOut()
        self.last_batch = -1

    def batch(self, files: DataFrame, batch_id: int) -> None:
        pieces = read_files(self.workers, arrivals_of(files), self.reader, self.spill)
        heads = [piece for piece in pieces if piece.kind == FILE]
        placements, self.standing = place_files(heads, self.standing, None)
        self._run(pieces, placements, batch_id, end=self.states is None)
        self.spill.clear()

    def _refuse(self, lines: pa.Table) -> None:
        for path in lines["file"].unique().to_pylist():
            self.left_out.refused.append((path, lines.filter(pc.equal(lines["file"], path))))

    def flush(self) -> None:
        """No more rows will come."""
        self._run([], {}, self.last_batch + 1, end=True)

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

    def _run(self, pieces: list[Piece], placements: dict[str, Placement], batch_id: int, *, end: bool) -> None:
        watermarks = {
            operator.name: END_OF_TIME
            if end
            else watermark_of(self.standing.newest.get(operator.stream.name, NO_WATERMARK), operator.stream.lateness_us)
            for operator in self.program.operators
        }
        step = Step(
            operators=self.program.operators,
            watermarks=watermarks,
            streams={stream.name: stream for stream in self.reader.streams},
            placements=placements,
            buckets=self.reader.buckets,
            states=self.states,
            batch_id=batch_id,
            begun_from=self.begun_from,
        )
        for found in run_step(self.workers, pieces, step, self.spill):
            if found.kind == EVENTS:
                self.events.setdefault(found.name, []).append(read_ipc(found.payload))
            elif found.kind == ARCHIVED:
                self.archive.setdefault(found.name, []).append(read_ipc(found.payload).drop_columns(["_file"]))
            elif found.kind == LATE:
                self.left_out.late[found.name] = self.left_out.late.get(found.name, 0) + found.rows
            else:
                self._refuse(read_ipc(found.payload))
        self.begun_from = dict.fromkeys(watermarks, batch_id)
        self.last_batch = batch_id
