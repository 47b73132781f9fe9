"""The Delta tables a detection job writes: archive chunks, late rows, quarantine, events.

Every append carries the batch's number as a Delta transaction, so a replayed batch writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from moirae.adapters.spark.buckets import EVENTS
from moirae.engine.pieces import ARCHIVE, BAD, payload_table
from moirae.engine.placing import Placement, archive_schema, take_rows
from moirae.model.json_text import json_objects
from moirae.model.query import StreamDef

QUARANTINE = pa.schema(
    [
        pa.field("stream", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("batch_id", pa.int64()),
    ]
)
EVENT_LOG = pa.schema(
    [
        pa.field("eid", pa.string()),
        pa.field("query", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("at", pa.timestamp("us", tz="UTC")),
        pa.field("attributes", pa.string()),
        pa.field("batch_id", pa.int64()),
    ]
)


def append(frame: DataFrame, path: str, writer: str, batch_id: int) -> None:
    """Append as one small file, once for each (writer, batch)."""
    out = frame.coalesce(1).write.format("delta").mode("append")
    out.option("txnAppId", writer).option("txnVersion", batch_id).save(path)


def archive_rows(
    pieces: DataFrame, stream: StreamDef, placements: Mapping[str, Placement], *, late: bool = False
) -> DataFrame:
    """The stream's rows of a batch that came in time, or those that came late."""
    schema = archive_schema(stream).append(pa.field("_file", pa.string()))

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, payload in zip(batch["path"].to_pylist(), batch["payload"].to_pylist(), strict=True):
                taken = take_rows(payload_table(payload), placements[path], stream.time, stream.lateness_us)
                rows = taken[1 if late else 0]
                file = pa.repeat(path, rows.num_rows)
                yield from rows.append_column("_file", file).select(schema.names).cast(schema).to_batches()

    wanted = (F.col("kind") == ARCHIVE) & (F.col("stream") == stream.name)
    return pieces.where(wanted).select("path", "payload").mapInArrow(unpack, from_arrow_schema(schema))


def bad_rows(pieces: DataFrame, placements: Mapping[str, Placement], batch_id: int) -> DataFrame:
    """Lines that could not be read, except those of duplicate files, which are refused whole."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            cells = (batch[name].to_pylist() for name in ("stream", "path", "payload"))
            for stream, path, payload in zip(*cells, strict=True):
                if not placements[path].duplicate_of:
                    yield from _quarantined(stream, path, payload_table(payload), batch_id).to_batches()

    wanted = pieces.where(F.col("kind") == BAD).select("stream", "path", "payload")
    return wanted.mapInArrow(unpack, from_arrow_schema(QUARANTINE))


def _quarantined(stream: str, path: str, bad: pa.Table, batch_id: int) -> pa.Table:
    n = bad.num_rows
    columns = [pa.repeat(stream, n), pa.repeat(path, n), bad["line"], bad["text"], bad["reason"]]
    return pa.table([*columns, pa.array([batch_id] * n, pa.int64())], schema=QUARANTINE)


def event_log(table: pa.Table, query: str, version: int, batch_id: int) -> pa.Table:
    """Events of one query in the common form: what is its own goes into one JSON object."""
    n = table.num_rows
    own = table.drop_columns(["eid", "at"])
    columns = [table["eid"], pa.repeat(query, n), pa.array([version] * n, pa.int32()), table["at"]]
    return pa.table([*columns, json_objects(own), pa.array([batch_id] * n, pa.int64())], schema=EVENT_LOG)


def event_rows(found: DataFrame, versions: Mapping[str, int], batch_id: int) -> DataFrame:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name, payload in zip(batch["name"].to_pylist(), batch["payload"].to_pylist(), strict=True):
                yield from event_log(payload_table(payload), name, versions[name], batch_id).to_batches()

    wanted = found.where(F.col("kind") == EVENTS).select("name", "payload")
    return wanted.mapInArrow(unpack, from_arrow_schema(EVENT_LOG))
