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
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moirae.adapters.batch.outcome import Outcome, Part, counts_of, duplicates, outcome_of
from moirae.adapters.batch.settling import Places
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.state_files import StateFiles
from moirae.adapters.batch.step import Arrival, Step, read_files, run_step
from moirae.adapters.batch.tables import EVENT_LOG, QUARANTINE, event_log, quarantined, stored_schema
from moirae.adapters.batch.workers import Workers, here, on_spark
from moirae.adapters.delta import commit_files, copy_files, write_file
from moirae.adapters.spark.arrivals import arrivals_of, passed_over, watch_landing
from moirae.adapters.spark.deployment import load_deployment
from moirae.adapters.spark.lifecycle import roll_limits
from moirae.adapters.storage import delete_folder
from moirae.config import Config
from moirae.engine.arrival import watermark_of
from moirae.engine.pieces import FILE, FileReader, Piece
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
    Eid,
    LandedFile,
    LiveEvent,
    NewTask,
)
from moirae.ports.kernel import NO_WATERMARK

JOB = "detect_events"
log = logging.getLogger(JOB)


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
        self.checkpoint = f"{self.root}/checkpoints/{JOB}"
        # A folder of this process alone: files are written over, and another may still be ending.
        self.spill = Spill(f"{self.root}/spill/{JOB}-{uuid.uuid4().hex}")
        self.deployment = load_deployment(catalog)
        self._batch_lock, self._stopping = threading.Lock(), threading.Event()

    def start(self) -> StreamingQuery:
        """Begin to watch the landing folder."""
        os.makedirs(self.config.ingest.landing, exist_ok=True)
        delete_folder(f"{self.root}/spill")  # of processes that never ended their batch
        files = watch_landing(self.spark, self.config.ingest.landing, self.config.ingest.max_files_per_batch)
        trigger = f"{max(self.config.ingest.trigger // 1000, 0)} milliseconds"
        writer = files.writeStream.foreachBatch(self.batch).trigger(processingTime=trigger)
        return writer.option("checkpointLocation", self.checkpoint).queryName(JOB).start()

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
        while not self._batch_lock.acquire(timeout=0.1):  # held by who stops and waits for us to end
            self._refuse_to_begin()
        try:
            self._refuse_to_begin()
            self._batch(files, batch_id)
        finally:
            self._batch_lock.release()

    def _refuse_to_begin(self) -> None:
        if self._stopping.is_set():
            raise InterruptedError("stopping: the batch is left for the next start")

    def _batch(self, files: DataFrame, batch_id: int) -> None:
        last = self.catalog.last_batch(JOB)
        if last is not None and batch_id <= last.batch_id:
            return
        began = time.perf_counter()
        if self.catalog.program_version() != self.deployment.version:
            self.deployment = load_deployment(self.catalog)
        arrivals = arrivals_of(files)
        arrivals += passed_over(self.checkpoint, batch_id, arrivals)
        commit, events = self._run(arrivals, batch_id, last)
        took = time.perf_counter() - began
        landed = sum(counts.landed for counts in commit.counts.values())
        fields = {"batch": batch_id, "rows": landed, "events": events, "took_s": round(took, 3)}
        self.catalog.beat(JOB, os.getpid(), "running", json.dumps(fields), self.clock())
        log.info("batch committed", extra={"fields": fields})

    def _reader(self) -> FileReader:
        streams, operators = self.deployment.pack.streams, self.deployment.program.operators
        ahead = self.config.ingest.max_ahead
        return FileReader(self.config.ingest.landing, streams, operators, self.config.engine.buckets, ahead)

    def _workers(self, arrivals: list[Arrival]) -> Workers:
        small = sum(arrival.size for arrival in arrivals) <= self.config.ingest.small_batch
        return here if small else on_spark(self.spark)

    def _run(self, arrivals: list[Arrival], batch_id: int, last: BatchRecord | None) -> tuple[BatchCommit, int]:
        """What was committed, and how many events there were."""
        workers = self._workers(arrivals)
        pieces = read_files(workers, arrivals, self._reader(), self.spill)
        files = [piece for piece in pieces if piece.kind == FILE]
        seen = self.catalog.file_seen([file.sha256 for file in files])
        placements, after = place_files(files, _standing(last), seen)
        self.reached("parsed")
        present = {name: self._present(name) for name in {file.stream for file in files} & set(self.deployment.streams)}
        step = self._step(batch_id, placements, after, present, last)
        outcome = outcome_of(run_step(workers, pieces, step, self.spill))
        self.reached("detected")
        events = self._live_events(outcome, batch_id)
        self.catalog.upsert_events(events)
        self.reached("visible")
        self._append_side_tables(outcome, pieces, placements, batch_id)
        self.reached("side tables")
        commit = self._commit(pieces, placements, after, step, outcome, events)
        commit = self._append_archive(outcome, present, commit)
        self.reached("committed")
        self._roll_if_due()
        self.spill.clear()
        for operator in step.operators:
            self.states.drop_before(operator.name, batch_id - 1)
        return commit, len(events)

    def _step(
        self,
        batch_id: int,
        placements: Mapping[str, Placement],
        after: Standing,
        present: Mapping[str, Chunk],
        last: BatchRecord | None,
    ) -> Step:
        operators = tuple(o for o in self.deployment.program.operators if o.stream.name in present)
        watermarks = {
            o.name: watermark_of(after.newest.get(o.stream.name, NO_WATERMARK), o.stream.lateness_us) for o in operators
        }
        begun_from = {o.name: last.positions[o.name] for o in operators if last and o.name in last.positions}
        return Step(
            operators=operators,
            watermarks=watermarks,
            streams=self.deployment.streams,
            placements=placements,
            buckets=self.config.engine.buckets,
            places=Places({name: chunk.path for name, chunk in present.items()}, self.root),
            states=self.states,
            batch_id=batch_id,
            begun_from=begun_from,
        )

    def _live_events(self, outcome: Outcome, batch_id: int) -> list[LiveEvent]:
        now = self.clock()
        events = []
        for query, table in outcome.events:
            at = table["at"].cast(pa.int64()).to_pylist()
            columns = json_objects(table.drop_columns(["eid", "at"])).to_pylist()
            version = self.deployment.versions[query]
            for eid, when, text in zip(table["eid"].to_pylist(), at, columns, strict=True):
                events.append(LiveEvent(Eid(eid), query, version, when, text, batch_id, now))
        return events

    def _append_side_tables(
        self, outcome: Outcome, pieces: list[Piece], placements: Mapping[str, Placement], batch_id: int
    ) -> None:
        """Late rows, refused lines and events; tables that get nothing are not touched."""
        for name, part in outcome.late.items():
            late = f"{self.root}/late/{name}"
            commit_files(late, stored_schema(self.deployment.streams[name]), part.files, JOB, batch_id)
        refused = list(outcome.refused.files)
        if twice := duplicates(pieces, placements):
            rows = [quarantined(file.stream, file.path, lines, batch_id) for file, lines in twice]
            refused.append(write_file(f"{self.root}/quarantine", pa.concat_tables(rows)))
        if refused:
            commit_files(f"{self.root}/quarantine", QUARANTINE, refused, JOB, batch_id)
        if outcome.events:
            log_rows = [
                event_log(rows, name, self.deployment.versions[name], batch_id) for name, rows in outcome.events
            ]
            file = write_file(f"{self.root}/events", pa.concat_tables(log_rows))
            commit_files(f"{self.root}/events", EVENT_LOG, [file], JOB, batch_id)

    def _commit(
        self,
        pieces: list[Piece],
        placements: Mapping[str, Placement],
        after: Standing,
        step: Step,
        outcome: Outcome,
        events: list[LiveEvent],
    ) -> BatchCommit:
        """Everything the batch will change, but for the archive's versions."""
        files = [f for f in pieces if f.kind == FILE and not placements[f.path].duplicate_of]
        recalls = self.deployment.pack.recalls
        tasks = [
            NewTask(event.eid, recall.name, self.deployment.versions[recall.name], event.at)
            for event in events
            for recall in recalls
            if recall.event == event.query
        ]
        return BatchCommit(
            job=JOB,
            batch_id=step.batch_id,
            committed_at=self.clock(),
            watermarks={name: newest for name, newest in after.newest.items() if newest != NO_WATERMARK},
            positions={**after.ordinals, **dict.fromkeys(step.watermarks, step.batch_id)},
            counts=counts_of(pieces, placements, outcome),
            files=[LandedFile(f.sha256, f.path, f.stream, f.rows) for f in files if f.rows],
            tasks=tasks,
        )

    def _append_archive(self, outcome: Outcome, present: Mapping[str, Chunk], commit: BatchCommit) -> BatchCommit:
        """Make each stream's files part of its present chunk and commit; again for chunks rolled meanwhile."""
        appends: dict[str, Append] = {}
        targets = {name: present[name] for name in outcome.archived}
        while True:
            for name, chunk in targets.items():
                part = outcome.archived[name]
                if chunk.path != present[name].path:
                    copy_files(part.files, present[name].path, chunk.path)
                appends[name] = self._append_chunk(chunk, part, commit.batch_id)
            self.reached("archived")
            done = replace(commit, appends=list(appends.values()))
            result = self.catalog.commit_batch(done)
            if result.outcome != "rolled":
                return done
            targets = {name: self._present(name) for name in result.stale}

    def _present(self, stream: str) -> Chunk:
        return self.catalog.present_chunk(stream, f"{self.root}/chunks", self.clock())

    def _append_chunk(self, chunk: Chunk, part: Part, batch_id: int) -> Append:
        schema = stored_schema(self.deployment.streams[chunk.stream])
        version = commit_files(chunk.path, schema, part.files, f"{JOB} {chunk.id} {chunk.epoch}", batch_id)
        size = sum(file.size for file in part.files)
        return Append(chunk.stream, chunk.id, chunk.epoch, version, part.rows, size, part.oldest, part.newest)

    def _roll_if_due(self) -> None:
        now = self.clock()
        for name, stream in self.deployment.streams.items():
            chunk = self._present(name)
            if plan_roll(chunk, now, roll_limits(stream, self.config)):
                self.catalog.roll(chunk.id, chunk.epoch, now)
                self.reached("rolled")


def _standing(last: BatchRecord | None) -> Standing:
    return Standing(last.positions, last.watermarks) if last else Standing()
