"""Stored rows through the engine again: the same host, from empty state to the end of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from moirae.adapters.batch.settling import Found
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.step import found_events
from moirae.adapters.batch.workers import Workers
from moirae.adapters.delta import files_at
from moirae.adapters.storage import locate
from moirae.engine.blob import ipc_bytes
from moirae.engine.host import BucketHost
from moirae.engine.pieces import BUCKET, Piece, split_by_bucket
from moirae.plan import Operator
from moirae.ports.kernel import END_OF_TIME


@dataclass(frozen=True, slots=True)
class _RowGroup:
    """A part of a file that can be read alone."""

    path: str
    number: int
    size: int


@dataclass(frozen=True, slots=True)
class _Bucket:
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


def replay_chunk(
    workers: Workers, chunk: str, version: int, operator: Operator, buckets: int, spill: Spill
) -> list[Found]:
    """The events of an operator's queries over the rows of a chunk."""

    def split(unit: _RowGroup) -> Iterator[Piece]:
        system, path = locate(unit.path)
        with system.open_input_file(path) as file:
            rows = pq.ParquetFile(file).read_row_group(unit.number, [*operator.columns, "_pos"], use_threads=False)
        for bucket, part in split_by_bucket(operator, rows, buckets):
            yield spill.put(_piece(operator, unit.path, bucket, part))

    def run(bucket: _Bucket) -> Iterator[Found]:
        host = BucketHost(operator)
        rows = pa.concat_tables([spill.rows(piece) for piece in bucket.pieces])
        _, events = host.advance(host.start(), rows, END_OF_TIME)
        yield from found_events(events)

    inbox: dict[int, list[Piece]] = {}
    for piece in workers(split, list(_units(chunk, version))):
        inbox.setdefault(piece.bucket, []).append(piece)
    return workers(run, [_Bucket(tuple(pieces)) for pieces in inbox.values()])


def _piece(operator: Operator, path: str, bucket: int, rows: pa.Table) -> Piece:
    payload = ipc_bytes(rows)
    return Piece(
        kind=BUCKET,
        stream=operator.stream.name,
        path=path,
        file_time=0,
        sha256="",
        rows=rows.num_rows,
        operator=operator.name,
        bucket=bucket,
        payload=payload,
        size=len(payload),
    )


def _units(chunk: str, version: int) -> Iterator[_RowGroup]:
    for file in files_at(chunk, version):
        place = f"{chunk}/{file.path}"
        system, path = locate(place)
        with system.open_input_file(path) as opened:
            footer = pq.read_metadata(opened)
        for group in range(footer.num_row_groups):
            yield _RowGroup(place, group, footer.row_group(group).total_byte_size)
