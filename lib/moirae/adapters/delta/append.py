"""Appends in two steps: tasks write parquet files wherever they run, then one commit makes them part of the table.

A commit takes milliseconds, whatever the files hold. A file that no commit names is garbage that no reader sees.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, Schema, Transaction
from deltalake.transaction import AddAction, create_table_with_add_actions

from moirae.adapters.delta.log import open_table
from moirae.adapters.storage import locate


@dataclass(frozen=True, slots=True)
class NewFile:
    """A parquet file not yet part of its table; `name` is relative to it."""

    name: str
    rows: int
    size: int


def write_file(table: str, rows: pa.Table) -> NewFile:
    """Write rows under a name of their own."""
    system, root = locate(table)
    system.create_dir(root, recursive=True)
    name = f"{uuid.uuid4()}.parquet"
    with system.open_output_stream(f"{root}/{name}") as out:
        pq.write_table(rows, out, compression="zstd", **_encodings(rows.schema))
        size = out.tell()
    return NewFile(name, rows.num_rows, size)


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Names repeat and times grow; a dictionary of numbers that hardly repeat takes twice the time and the space."""
    whole = [field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type)]
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return {"use_dictionary": texts, "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED")}


def copy_files(files: Sequence[NewFile], source: str, target: str) -> None:
    """The same files in another table's folder."""
    (system, old), (_, new) = locate(source), locate(target)
    system.create_dir(new, recursive=True)
    for file in files:
        system.copy_file(f"{old}/{file.name}", f"{new}/{file.name}")


def commit_files(table: str, schema: pa.Schema, files: Sequence[NewFile], writer: str, batch_id: int) -> int:
    """Make files part of the table, once for each (writer, batch); the version that holds them."""
    found = open_table(table)
    properties = CommitProperties(app_transactions=[Transaction(writer, batch_id)])
    if found is None:
        adds = [_add(file) for file in files]
        create_table_with_add_actions(table, Schema.from_arrow(schema), adds, commit_properties=properties)
        return 0
    last = found.transaction_version(writer)
    if last is None or last < batch_id:
        found.create_write_transaction(
            [_add(file) for file in files], mode="append", schema=found.schema(), commit_properties=properties
        )
        found.update_incremental()
    return int(found.version())


def _add(file: NewFile) -> AddAction:
    now_ms = time.time_ns() // 1_000_000
    return AddAction(file.name, file.size, {}, now_ms, True, f'{{"numRecords":{file.rows}}}')
