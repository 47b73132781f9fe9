"""What becomes of a batch's rows, decided where they are: archived, late or refused.

Each task writes the rows it holds as parquet files into the tables' folders and reports the files; the driver sees
names and counts, never rows. Without places to write to, the archived rows themselves are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from moirae.adapters.delta import write_file
from moirae.adapters.spark.tables import quarantined, stored_rows
from moirae.engine.blob import ipc_bytes
from moirae.engine.pieces import ARCHIVE, payload_table
from moirae.engine.placing import Placement, take_rows
from moirae.model.query import StreamDef

ARCHIVED, LATE, REFUSED, EVENTS = "archived", "late", "refused", "events"
FOUND = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("name", pa.string()),  # the stream or the query
        pa.field("rows", pa.int64()),
        pa.field("oldest", pa.int64()),
        pa.field("newest", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("payload", pa.binary()),
    ]
)
_FLUSH_BYTES = 64 << 20

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Places:
    """The tables a batch's rows go to."""

    chunks: Mapping[str, str]  # by stream: its present chunk
    root: str

    def table(self, kind: str, stream: str) -> str:
        if kind == ARCHIVED:
            return self.chunks[stream]
        return f"{self.root}/quarantine" if kind == REFUSED else f"{self.root}/late/{stream}"


@dataclass(frozen=True, slots=True)
class Settling:
    """What the tasks need to know; small, sent with them."""

    streams: Mapping[str, StreamDef]
    placements: Mapping[str, Placement]
    batch_id: int
    places: Places | None

    def __call__(self, batches: Batches) -> Batches:
        """Settle the pieces (kind, stream, path, payload) of a partition."""
        held: dict[tuple[str, str], list[pa.Table]] = {}
        for batch in batches:
            for kind, stream, path, payload in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                for outcome, rows in self._outcomes(kind, stream, path, payload_table(payload)):
                    box = held.setdefault((outcome, stream), [])
                    box.append(rows)
                    if sum(table.nbytes for table in box) > _FLUSH_BYTES:
                        yield self._report(outcome, stream, held.pop((outcome, stream)))
        for (outcome, stream), tables in held.items():
            yield self._report(outcome, stream, tables)

    def _outcomes(self, kind: str, stream: str, path: str, rows: pa.Table) -> Iterable[tuple[str, pa.Table]]:
        """A duplicate file has none: it is refused whole, by the driver."""
        place = self.placements[path]
        if place.duplicate_of:
            return
        if kind != ARCHIVE:
            yield REFUSED, quarantined(stream, path, rows, self.batch_id)
            return
        of = self.streams[stream]
        kept, late = take_rows(rows, place, of.time, of.lateness_us)
        for outcome, part in ((ARCHIVED, kept), (LATE, late)):
            if part.num_rows:
                yield outcome, stored_rows(of, part, path)

    def _report(self, outcome: str, stream: str, tables: list[pa.Table]) -> pa.RecordBatch:
        rows = pa.concat_tables(tables)
        span = {"min": None, "max": None}
        if outcome == ARCHIVED:
            span = pc.min_max(rows[self.streams[stream].time].cast(pa.int64())).as_py()
        if self.places is None:
            payload = ipc_bytes(rows) if outcome == ARCHIVED else b""
            return found_row(outcome, stream, rows.num_rows, span["min"], span["max"], payload=payload)
        file = write_file(self.places.table(outcome, stream), rows)
        return found_row(outcome, stream, file.rows, span["min"], span["max"], file.name, file.size)


def found_row(
    kind: str,
    name: str,
    rows: int,
    oldest: int | None = None,
    newest: int | None = None,
    file: str = "",
    size: int = 0,
    payload: bytes = b"",
) -> pa.RecordBatch:
    values = (kind, name, rows, oldest, newest, file, size, payload)
    return pa.record_batch([pa.array([value], field.type) for value, field in zip(values, FOUND, strict=True)], FOUND)
