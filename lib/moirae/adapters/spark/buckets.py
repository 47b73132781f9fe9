"""The host on Spark: landing files to pieces, pieces to buckets, buckets through the engine.

Two functions from DataFrame to DataFrame, the same for a micro-batch, for a whole folder at once and for the replay of
a chunk. What the tasks need (readers, placements, watermarks) are small values that travel with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from moirae.adapters.spark.settling import EVENTS, FOUND, Batches, Places, Settling, found_row
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
from moirae.model.query import StreamDef
from moirae.plan import Operator, Program


@dataclass(frozen=True, slots=True)
class Step:
    """What one pass over the pieces needs to know. Operators without a watermark are not touched."""

    program: Program
    streams: Mapping[str, StreamDef]
    placements: Mapping[str, Placement]
    watermarks: Mapping[str, int]  # by operator
    buckets: int
    places: Places | None = None  # None: rows are not stored but reported
    states: StateFiles | None = None  # None: one pass from nothing, as in a replay
    batch_id: int = 0
    begun_from: Mapping[str, int] = field(default_factory=dict)  # by operator: the batch whose state to continue


def read_pieces(files: DataFrame, reader: FileReader) -> DataFrame:
    """Pieces of files given as (path, modificationTime, content)."""

    def read(batches: Batches) -> Batches:
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
    """Rows settled and events found, as FOUND rows."""
    found = from_arrow_schema(FOUND)
    settling = Settling(step.streams, step.placements, step.batch_id, step.places)
    rows = pieces.where(F.col("kind").isin(ARCHIVE, BAD)).select("kind", "stream", "path", "payload")
    settled = rows.mapInArrow(settling, found)
    operators = [operator for operator in step.program.operators if operator.name in step.watermarks]
    if not operators:
        return settled
    wanted = pieces.where((F.col("kind") == BUCKET) & F.col("operator").isin([o.name for o in operators]))
    parts = wanted.select("operator", "bucket", "path", "payload").unionByName(_ticks(spark, step.buckets))
    slot_of = F.array(*[F.lit(slot) for slot in _slots(spark, step.buckets)])
    placed = parts.withColumn("slot", F.element_at(slot_of, F.col("bucket") + 1))
    grouped = placed.repartition(step.buckets, "slot").select("operator", "bucket", "path", "payload")
    return grouped.mapInArrow(_run_buckets(step, operators), found).unionByName(settled)


def _ticks(spark: SparkSession, buckets: int) -> DataFrame:
    """A row for every bucket: the watermark moves also where no rows came."""
    nothing = {"operator": F.lit(""), "path": F.lit(""), "payload": F.lit(None).cast("binary")}
    return spark.range(0, buckets, 1, 1).select(F.col("id").cast("int").alias("bucket")).withColumns(nothing)


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


def _run_buckets(step: Step, operators: list[Operator]) -> Callable[[Batches], Batches]:
    """Bring the buckets of a partition up to the watermark."""

    def run(batches: Batches) -> Batches:
        inbox: dict[tuple[str, int], list[tuple[int, pa.Table]]] = {}
        streams = {operator.name: operator.stream for operator in operators}
        buckets = set()
        for batch in batches:
            for name, bucket, path, payload in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                buckets.add(bucket)
                if name:
                    stream, place = streams[name], step.placements[path]
                    rows = take_rows(payload_table(payload), place, stream.time, stream.lateness_us)[0]
                    inbox.setdefault((name, bucket), []).append((place.ordinal, rows))
        for operator in operators:
            host = BucketHost(operator)
            for bucket in sorted(buckets):
                yield from _advance(step, host, bucket, inbox.pop((operator.name, bucket), []))

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
            yield found_row(EVENTS, query, table.num_rows, payload=ipc_bytes(table))
