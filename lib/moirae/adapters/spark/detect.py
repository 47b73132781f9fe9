"""Live detection: every micro-batch takes landing files to archived rows, quarantined rows and events, exactly once.

Order within a batch: events become visible first (upserted by eid, so a second try changes nothing), then the Delta
tables are appended to (each append a transaction named after the batch), then one catalog transaction makes it all
count: chunks, watermarks, files, recall tasks. A process killed anywhere repeats the batch from the same state and
comes to the same end; only then does Spark move on.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moirae.adapters.delta import files_at, latest_version
from moirae.adapters.spark import tables
from moirae.adapters.spark.buckets import EVENTS, SETTLED, Step, piece_heads, read_pieces, run_step
from moirae.adapters.spark.deployment import load_deployment
from moirae.adapters.spark.lifecycle import roll_limits
from moirae.adapters.spark.state_files import StateFiles
from moirae.config import Config
from moirae.engine.arrival import watermark_of
from moirae.engine.blob import read_ipc
from moirae.engine.pieces import BAD, FILE, FileReader, Piece
from moirae.engine.placing import Placement, Standing, place_files
from moirae.errors import PlatformError
from moirae.history import plan_roll
from moirae.model.json_text import json_objects
from moirae.ports.catalog import (
    Append,
    BatchCommit,
    BatchRecord,
    Catalog,
    Chunk,
    Counts,
    Eid,
    LandedFile,
    LiveEvent,
    NewTask,
)
from moirae.ports.kernel import NO_WATERMARK

JOB = "detect_events"
log = logging.getLogger(JOB)


@dataclass(frozen=True, slots=True)
class _Settled:
    """What a stream's rows of this batch came to."""

    rows: int = 0
    late: int = 0
    oldest: int | None = None
    newest: int | None = None


class DetectEvents:
    """The job. `reached` is told each point a batch has come to; tests end the process there."""

    def __init__(
        self,
        spark: SparkSession,
        catalog: Catalog,
        config: Config,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        reached: Callable[[str], None] = lambda point: None,
    ) -> None:
        self.spark, self.catalog, self.config = spark, catalog, config
        self.clock, self.reached = clock, reached
        self.root = config.store.place
        self.states = StateFiles(f"{self.root}/state/{JOB}")
        self.deployment = load_deployment(catalog)
        self._writers = ThreadPoolExecutor(4, thread_name_prefix="append")
        self._batch_lock, self._stopping = threading.Lock(), threading.Event()

    def start(self) -> StreamingQuery:
        """Begin to watch the landing folder."""
        os.makedirs(self.config.ingest.landing, exist_ok=True)
        files = (
            self.spark.readStream.format("binaryFile")
            .schema("path string, modificationTime timestamp, length bigint, content binary")
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self.config.ingest.max_files_per_batch)
            .load(self.config.ingest.landing)
        )
        trigger = f"{max(self.config.ingest.trigger // 1000, 0)} milliseconds"
        writer = files.writeStream.foreachBatch(self.batch).trigger(processingTime=trigger)
        return writer.option("checkpointLocation", f"{self.root}/checkpoints/{JOB}").queryName(JOB).start()

    def run(self, stop: threading.Event, ready: Path | None = None) -> None:
        """Detect until `stop` is set, then end between two batches."""
        self.catalog.beat(JOB, os.getpid(), "starting", "{}", self.clock())
        query = self.start()
        self.catalog.beat(JOB, os.getpid(), "running", "{}", self.clock())
        if ready is not None:
            ready.touch()
        while not stop.wait(0.2) and query.isActive:
            pass
        self._stopping.set()
        with self._batch_lock:  # a query stopped in a batch would leave a Delta commit half way
            query.stop()
        if not stop.is_set() and (error := query.exception()) is not None:
            raise PlatformError(f"{JOB}: the streaming query ended: {error}; see the log, then start it again")

    def batch(self, files: DataFrame, batch_id: int) -> None:
        with self._batch_lock:
            if not self._stopping.is_set():
                self._batch(files, batch_id)
            else:
                raise InterruptedError("stopping: the batch is left for the next start")

    def _batch(self, files: DataFrame, batch_id: int) -> None:
        last = self.catalog.last_batch(JOB)
        if last is not None and batch_id <= last.batch_id:
            return
        began = time.perf_counter()
        if self.catalog.program_version() != self.deployment.version:
            self.deployment = load_deployment(self.catalog)
        pieces = read_pieces(files, self._reader()).persist()
        try:
            commit = self._run(pieces, batch_id, last)
        finally:
            pieces.unpersist()
        took = time.perf_counter() - began
        landed = sum(counts.landed for counts in commit.counts.values())
        fields = {"batch": batch_id, "rows": landed, "events": len(commit.events), "took_s": round(took, 3)}
        self.catalog.beat(JOB, os.getpid(), "running", json.dumps(fields), self.clock())
        log.info("batch committed", extra={"fields": fields})

    def _reader(self) -> FileReader:
        streams, operators = self.deployment.pack.streams, self.deployment.program.operators
        ahead = self.config.ingest.max_ahead
        return FileReader(self.config.ingest.landing, streams, operators, self.config.engine.buckets, ahead)

    def _run(self, pieces: DataFrame, batch_id: int, last: BatchRecord | None) -> BatchCommit:
        facts = piece_heads(pieces)
        files = [piece for piece in facts if piece.kind == FILE]
        standing = _standing(last)
        seen = self.catalog.file_seen([file.sha256 for file in files])
        placements, after = place_files(files, standing, seen)
        self.reached("parsed")
        step = self._step(batch_id, placements, after, {file.stream for file in files}, last)
        found = run_step(self.spark, pieces, step).persist()
        try:
            results = found.toArrow()
            self.reached("detected")
            events = self._live_events(results, batch_id)
            self.catalog.upsert_events(events)
            self.reached("visible")
            settled = _settled(results)
            self._append_side_tables(pieces, found, placements, facts, settled, len(events), batch_id)
            commit = self._commit(facts, placements, after, step, settled, events, batch_id)
            commit = self._append_archive(pieces, placements, settled, commit)
        finally:
            found.unpersist()
        self.reached("committed")
        self._roll_if_due()
        for operator in step.watermarks:
            self.states.drop_before(operator, batch_id - 1)
        return commit

    def _step(
        self,
        batch_id: int,
        placements: Mapping[str, Placement],
        after: Standing,
        touched: set[str],
        last: BatchRecord | None,
    ) -> Step:
        streams = self.deployment.streams
        operators = [o for o in self.deployment.program.operators if o.stream.name in touched]
        watermarks = {
            o.name: watermark_of(after.newest.get(o.stream.name, NO_WATERMARK), o.stream.lateness_us) for o in operators
        }
        begun_from = {o.name: last.positions[o.name] for o in operators if last and o.name in last.positions}
        return Step(
            program=self.deployment.program,
            times={name: (stream.time, stream.lateness_us) for name, stream in streams.items()},
            placements=placements,
            watermarks=watermarks,
            buckets=self.config.engine.buckets,
            states=self.states,
            batch_id=batch_id,
            begun_from=begun_from,
        )

    def _live_events(self, results: pa.Table, batch_id: int) -> list[LiveEvent]:
        now = self.clock()
        events = []
        for row in results.filter(pa.compute.equal(results["kind"], EVENTS)).to_pylist():
            table = read_ipc(row["payload"])
            at = table["at"].cast(pa.int64()).to_pylist()
            columns = json_objects(table.drop_columns(["eid", "at"])).to_pylist()
            version = self.deployment.versions[row["name"]]
            for eid, when, text in zip(table["eid"].to_pylist(), at, columns, strict=True):
                events.append(LiveEvent(Eid(eid), row["name"], version, when, text, batch_id, now))
        return events

    def _append_side_tables(
        self,
        pieces: DataFrame,
        found: DataFrame,
        placements: Mapping[str, Placement],
        facts: list[Piece],
        settled: Mapping[str, _Settled],
        n_events: int,
        batch_id: int,
    ) -> None:
        """Late rows, refused lines and events; tables that get nothing are not touched."""
        writes: list[tuple[DataFrame, str]] = []
        if n_events:
            rows = tables.event_rows(found, self.deployment.versions, batch_id)
            writes.append((rows, f"{self.root}/events"))
        for name, facts_of in settled.items():
            if facts_of.late:
                rows = tables.archive_rows(pieces, self.deployment.streams[name], placements, late=True)
                writes.append((rows, f"{self.root}/late/{name}"))
        refused = [piece for piece in facts if piece.kind == BAD or placements[piece.path].duplicate_of]
        if refused:
            writes.append((self._refused(pieces, placements, facts, batch_id), f"{self.root}/quarantine"))
        list(self._writers.map(lambda write: tables.append(write[0], write[1], JOB, batch_id), writes))
        self.reached("side tables")

    def _refused(
        self, pieces: DataFrame, placements: Mapping[str, Placement], facts: list[Piece], batch_id: int
    ) -> DataFrame:
        rows = tables.bad_rows(pieces, placements, batch_id)
        twice = [piece for piece in facts if piece.kind == FILE and placements[piece.path].duplicate_of]
        if not twice:
            return rows
        named = [
            (f.stream, f.path, 0, "", f"duplicate of {placements[f.path].duplicate_of}: {f.rows} rows", batch_id)
            for f in twice
        ]
        return rows.unionByName(self.spark.createDataFrame(named, rows.schema))

    def _commit(
        self,
        facts: list[Piece],
        placements: Mapping[str, Placement],
        after: Standing,
        step: Step,
        settled: Mapping[str, _Settled],
        events: list[LiveEvent],
        batch_id: int,
    ) -> BatchCommit:
        """Everything the batch will change, but for the archive's versions."""
        files = [f for f in facts if f.kind == FILE and not placements[f.path].duplicate_of]
        recalls = self.deployment.pack.recalls
        tasks = [
            NewTask(event.eid, recall.name, self.deployment.versions[recall.name], event.at)
            for event in events
            for recall in recalls
            if recall.event == event.query
        ]
        return BatchCommit(
            job=JOB,
            batch_id=batch_id,
            committed_at=self.clock(),
            watermarks={name: newest for name, newest in after.newest.items() if newest != NO_WATERMARK},
            positions={**after.ordinals, **dict.fromkeys(step.watermarks, batch_id)},
            counts=_counts(facts, placements, settled),
            files=[LandedFile(f.sha256, f.path, f.stream, f.rows) for f in files if f.rows],
            events=events,
            tasks=tasks,
        )

    def _append_archive(
        self,
        pieces: DataFrame,
        placements: Mapping[str, Placement],
        settled: Mapping[str, _Settled],
        commit: BatchCommit,
    ) -> BatchCommit:
        """Write each stream's rows to its present chunk and commit; again for chunks rolled meanwhile."""
        todo = {name for name, facts in settled.items() if facts.rows}
        appends: dict[str, Append] = {}

        def write(name: str) -> Append:
            return self._append_chunk(pieces, placements, name, settled[name], commit.batch_id)

        while True:
            appends |= {append.stream: append for append in self._writers.map(write, todo)}
            self.reached("archived")
            done = replace(commit, appends=list(appends.values()))
            result = self.catalog.commit_batch(done)
            if result.outcome != "rolled":
                return done
            todo = set(result.stale)

    def _present(self, stream: str) -> Chunk:
        return self.catalog.present_chunk(stream, f"{self.root}/chunks", self.clock())

    def _append_chunk(
        self, pieces: DataFrame, placements: Mapping[str, Placement], name: str, facts: _Settled, batch_id: int
    ) -> Append:
        chunk = self._present(name)
        rows = tables.archive_rows(pieces, self.deployment.streams[name], placements)
        tables.append(rows, chunk.path, f"{JOB} {chunk.id} {chunk.epoch}", batch_id)
        version = latest_version(chunk.path)
        assert version is not None, "an append leaves a version behind"
        size = sum(file.size for file in files_at(chunk.path, version)) - chunk.bytes
        return Append(name, chunk.id, chunk.epoch, version, facts.rows, size, facts.oldest, facts.newest)

    def _roll_if_due(self) -> None:
        now = self.clock()
        for name, stream in self.deployment.streams.items():
            chunk = self._present(name)
            if plan_roll(chunk, now, roll_limits(stream, self.config)):
                self.catalog.roll(chunk.id, chunk.epoch, now)
                self.reached("rolled")


def _standing(last: BatchRecord | None) -> Standing:
    return Standing(last.positions, last.watermarks) if last else Standing()


def _settled(results: pa.Table) -> dict[str, _Settled]:
    totals: dict[str, _Settled] = {}
    for row in results.select(["kind", "name", "rows", "late", "oldest", "newest"]).to_pylist():
        if row["kind"] == SETTLED:
            before = totals.get(row["name"], _Settled())
            oldest = [t for t in (before.oldest, row["oldest"]) if t is not None]
            newest = [t for t in (before.newest, row["newest"]) if t is not None]
            rows, late = before.rows + row["rows"], before.late + row["late"]
            totals[row["name"]] = _Settled(rows, late, min(oldest, default=None), max(newest, default=None))
    return totals


def _counts(
    facts: list[Piece], placements: Mapping[str, Placement], settled: Mapping[str, _Settled]
) -> dict[str, Counts]:
    """Landed = archived + late + quarantined, for every stream and batch; a duplicate file is one refused row."""
    landed: dict[str, int] = {}
    refused: dict[str, int] = {}
    for piece in facts:
        rows = 1 if placements[piece.path].duplicate_of else piece.rows
        if piece.kind == FILE:
            landed[piece.stream] = landed.get(piece.stream, 0) + rows
            refused.setdefault(piece.stream, 0)
        if piece.kind == BAD and not placements[piece.path].duplicate_of:
            refused[piece.stream] = refused.get(piece.stream, 0) + rows
        elif piece.kind == FILE and placements[piece.path].duplicate_of:
            refused[piece.stream] += 1
    return {
        stream: Counts(
            landed=count,
            archived=settled.get(stream, _Settled()).rows,
            late=settled.get(stream, _Settled()).late,
            quarantined=refused[stream],
        )
        for stream, count in landed.items()
    }
