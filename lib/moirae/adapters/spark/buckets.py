"""The host on Spark: landing files to pieces, pieces to buckets, buckets through the engine.

Two functions from DataFrame to DataFrame, the same for a micro-batch, for a whole folder at once and for the replay of
a chunk. What the tasks need (readers, placements, watermarks) are small values that travel with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from moirae.adapters.spark.state_files import StateFiles
from moirae.engine.blob import ipc_bytes
from moirae.engine.host import BucketHost
from moirae.engine.pieces import (
    ARCHIVE,
    BAD,
    BUCKET,
    FILE,
    PIECES,
    FileReader,
    Piece,
    payload_table,
    pieces_table,
)
from moirae.engine.placing import Placement, take_rows
from moirae.plan import Operator, Program

SETTLED, EVENTS = "settled", "events"
FOUND = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("name", pa.string()),  # the stream or the query
        pa.field("rows", pa.int64()),
        pa.field("late", pa.int64()),
        pa.field("oldest", pa.int64()),
        pa.field("newest", pa.int64()),
        pa.field("payload", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class Step:
    """What one pass over the pieces needs to know. Operators without a watermark are not touched."""

    program: Program
    times: Mapping[str, tuple[str, int]]  # by stream: its time column and lateness
    placements: Mapping[str, Placement]
    watermarks: Mapping[str, int]  # by operator
    buckets: int
    states: StateFiles | None = None  # None: one pass from nothing, as in a replay
    batch_id: int = 0
    begun_from: Mapping[str, int] = field(default_factory=dict)  # by operator: the batch whose state to continue


def read_pieces(files: DataFrame, reader: FileReader) -> DataFrame:
    """Pieces of files given as (path, modificationTime, content)."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            times = batch.column("modificationTime").cast(pa.int64())
            for path, time, content in zip(batch.column("path"), times, batch.column("content"), strict=True):
                pieces = list(reader.read(path.as_py(), time.as_py(), content.as_py()))
                yield from pieces_table(pieces).to_batches()

    wanted = files.select("path", "modificationTime", "content")
    return wanted.mapInArrow(read, from_arrow_schema(PIECES))


def piece_heads(pieces: DataFrame) -> list[Piece]:
    """What the driver needs to know of a batch: its files and how many lines were refused, without any payload."""
    columns = ["kind", "stream", "path", "file_time", "sha256", "rows", "newest"]
    heads = pieces.where(F.col("kind").isin(FILE, BAD)).select(columns).toArrow()
    return [Piece(**row) for row in heads.to_pylist()]


def run_step(spark: SparkSession, pieces: DataFrame, step: Step) -> DataFrame:
    """Events found and rows settled, as FOUND rows."""
    found = from_arrow_schema(FOUND)
    archive = pieces.where(F.col("kind") == ARCHIVE).mapInArrow(_settle(step), found)
    operators = [operator for operator in step.program.operators if operator.name in step.watermarks]
    if not operators:
        return archive
    slots = _slots(spark, step.buckets)
    wanted = pieces.where((F.col("kind") == BUCKET) & F.col("operator").isin([o.name for o in operators]))
    rows = wanted.select("operator", "bucket", "path", "payload")
    ticks = [(operator.name, bucket, "", b"") for operator in operators for bucket in range(step.buckets)]
    tick_rows = spark.createDataFrame(ticks, rows.schema)
    slot_of = F.array(*[F.lit(slot) for slot in slots])
    placed = rows.unionByName(tick_rows).withColumn("slot", F.element_at(slot_of, F.col("bucket") + 1))
    grouped = placed.repartition(step.buckets, "slot").select("operator", "bucket", "path", "payload")
    return archive.unionByName(grouped.mapInArrow(_run_buckets(step, operators), found))


def _slots(spark: SparkSession, buckets: int) -> list[int]:
    """Numbers Spark's hash spreads over partitions one by one: else one task gets two buckets and another none."""
    if buckets not in _KNOWN_SLOTS:
        candidates = spark.range(64 * buckets).select(
            F.col("id").cast("int").alias("slot"), F.expr(f"pmod(hash(cast(id as int)), {buckets})").alias("part")
        )
        first = {row["part"]: row["slot"] for row in reversed(candidates.collect())}
        _KNOWN_SLOTS[buckets] = [first[part] for part in range(buckets)]
    return _KNOWN_SLOTS[buckets]


_KNOWN_SLOTS: dict[int, list[int]] = {}


def _settle(step: Step) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Count what each file gives to the archive and what came too late."""

    def settle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for stream, path, payload in _cells(batch, "stream", "path", "payload"):
                time, lateness = step.times[stream]
                kept, late = take_rows(payload_table(payload), step.placements[path], time, lateness)
                at = kept[time].cast(pa.int64())
                span = pc.min_max(at).as_py() if len(at) else {"min": None, "max": None}
                yield _found(SETTLED, stream, kept.num_rows, late.num_rows, span["min"], span["max"])

    return settle


def _run_buckets(
    step: Step, operators: list[Operator]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Bring the buckets of a partition up to the watermark."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        inbox: dict[tuple[str, int], list[tuple[int, pa.Table]]] = {}
        streams = {operator.name: operator.stream for operator in operators}
        for batch in batches:
            for name, bucket, path, payload in _cells(batch, "operator", "bucket", "path", "payload"):
                box = inbox.setdefault((name, bucket), [])
                if path:
                    stream, place = streams[name], step.placements[path]
                    box.append(
                        (place.ordinal, take_rows(payload_table(payload), place, stream.time, stream.lateness_us)[0])
                    )
        for operator in operators:
            host = BucketHost(operator)
            for bucket in range(step.buckets):
                if (operator.name, bucket) in inbox:
                    yield from _advance(step, host, bucket, inbox.pop((operator.name, bucket)))

    return run


def _advance(step: Step, host: BucketHost, bucket: int, parts: list[tuple[int, pa.Table]]) -> Iterator[pa.RecordBatch]:
    name = host.operator.name
    in_order = [rows for _, rows in sorted(parts, key=lambda part: part[0])]
    rows = pa.concat_tables(in_order) if in_order else host.schema.empty_table()
    blob = step.states.read(name, bucket, step.begun_from.get(name)) if step.states else None
    state, events = host.advance(host.load(blob), rows, step.watermarks[name])
    if step.states:
        step.states.write(name, bucket, step.batch_id, host.dump(state))
    for query, table in events.items():
        if table.num_rows:
            yield _found(EVENTS, query, table.num_rows, payload=ipc_bytes(table))


def _cells(batch: pa.RecordBatch, *names: str) -> Iterator[tuple[Any, ...]]:
    """The cells of some columns, a piece at a time: pieces are few, whatever they hold."""
    return zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def _found(
    kind: str,
    name: str,
    rows: int,
    late: int = 0,
    oldest: int | None = None,
    newest: int | None = None,
    payload: bytes = b"",
) -> pa.RecordBatch:
    values = (kind, name, rows, late, oldest, newest, payload)
    return pa.record_batch([pa.array([value], field.type) for value, field in zip(values, FOUND, strict=True)], FOUND)
