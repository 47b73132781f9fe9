"""The forms of the Delta tables a detection job writes besides chunks: late rows, quarantine, events."""

from __future__ import annotations

import pyarrow as pa

from moirae.engine.placing import archive_schema
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


def stored_schema(stream: StreamDef) -> pa.Schema:
    """A stream's rows as its chunks hold them: columns, position, and the file they came in."""
    return archive_schema(stream).append(pa.field("_file", pa.string()))


def stored_rows(stream: StreamDef, rows: pa.Table, path: str) -> pa.Table:
    schema = stored_schema(stream)
    return rows.append_column("_file", pa.repeat(path, rows.num_rows)).select(schema.names).cast(schema)


def quarantined(stream: str, path: str, bad: pa.Table, batch_id: int) -> pa.Table:
    """Refused lines (line, text, reason) with where they came from."""
    n = bad.num_rows
    columns = [pa.repeat(stream, n), pa.repeat(path, n), bad["line"], bad["text"], bad["reason"]]
    return pa.table([*columns, pa.array([batch_id] * n, pa.int64())], schema=QUARANTINE)


def event_log(table: pa.Table, query: str, version: int, batch_id: int) -> pa.Table:
    """Events of one query in the common form: what is its own goes into one JSON object."""
    n = table.num_rows
    own = table.drop_columns(["eid", "at"])
    columns = [table["eid"], pa.repeat(query, n), pa.array([version] * n, pa.int32()), table["at"]]
    return pa.table([*columns, json_objects(own), pa.array([batch_id] * n, pa.int64())], schema=EVENT_LOG)
