"""A story: rows land in files, the engine runs in this process, events come out as plain values.

Rows go the whole way, through the bytes of landing files, so a story sees what the platform would see. Times are
microseconds on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from moirae.engine.pieces import FileReader
from moirae.engine.process import ProcessRun
from moirae.ingest.moments import spell_one
from moirae.model.query import Pack, StreamDef
from moirae.model.schema import Type
from moirae.plan import plan_program

Row = Mapping[str, Any]
LANDING = "/landing"


def landing_files(stream: StreamDef, files: Sequence[Sequence[Row]]) -> list[tuple[str, int, bytes]]:
    """(path, file time, content) of each, in order of arrival.

    >>> from moirae.model.schema import Schema
    >>> landing_files(StreamDef("s", Schema.of(at=Type.TIMESTAMP), "at", source_name="s"), [[{"at": 1}]])
    [('/landing/s/000000.jsonl', 0, b'{"at": "1970-01-01T00:00:00.000001Z"}\\n')]
    """
    times = [column.name for column in stream.schema if column.type is Type.TIMESTAMP]
    landed = []
    for number, rows in enumerate(files):
        spelled = [{**row, **{t: spell_one(row[t]) for t in times if row.get(t) is not None}} for row in rows]
        content = "".join(json.dumps(row) + "\n" for row in spelled).encode()
        landed.append((f"{LANDING}/{stream.source_name}/{number:06d}.jsonl", number, content))
    return landed


def start_story(pack: Pack, buckets: int = 1, versions: Mapping[str, int] | None = None) -> ProcessRun:
    """A run of the pack from nothing."""
    program = plan_program(pack, versions)
    return ProcessRun(program, FileReader(LANDING, pack.streams, program.operators, buckets))


def plain_rows(table: pa.Table) -> list[list[Any]]:
    """The rows as lists of Python values.

    >>> plain_rows(pa.table({"at": pa.array([5], pa.timestamp("us", tz="UTC")), "n": [None]}))
    [[5, None]]
    """
    columns = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in table.columns]
    return [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]
