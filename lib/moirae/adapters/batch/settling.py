"""What becomes of a batch's rows, decided where they are: archived, late or refused.

Each task writes the rows it holds as parquet files into the tables' folders and reports the files; the driver sees
names and counts, never rows. Without places to write to, archived and refused rows themselves are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from moirae.adapters.batch.tables import quarantined, stored_rows
from moirae.adapters.delta import NewFile, write_file
from moirae.engine.blob import ipc_bytes
from moirae.engine.pieces import ARCHIVE, Piece
from moirae.engine.placing import Placement, take_rows
from moirae.model.query import StreamDef

ARCHIVED, LATE, REFUSED, EVENTS = "archived", "late", "refused", "events"


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one stream that fared alike, or events of one query: how many, from when to when, and where they are."""

    kind: str
    name: str  # the stream or the query
    rows: int
    oldest: int | None = None
    newest: int | None = None
    file: NewFile | None = None
    payload: bytes = b""


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
    """What it takes to settle rows; small, sent with the tasks."""

    streams: Mapping[str, StreamDef]
    placements: Mapping[str, Placement]
    batch_id: int
    places: Places | None

    def settle(self, stream: str, pieces: Iterable[tuple[Piece, pa.Table]]) -> Iterator[Found]:
        """Settle pieces of one stream: one file for each of the ways they fare."""
        held: dict[str, list[pa.Table]] = {}
        for piece, rows in pieces:
            for kind, part in self._outcomes(piece, rows):
                held.setdefault(kind, []).append(part)
        for kind, tables in held.items():
            yield self._report(kind, stream, pa.concat_tables(tables))

    def _outcomes(self, piece: Piece, rows: pa.Table) -> Iterable[tuple[str, pa.Table]]:
        """A duplicate file has none: it is refused whole, by the driver."""
        place = self.placements[piece.path]
        if place.duplicate_of:
            return
        if piece.kind != ARCHIVE:
            yield REFUSED, quarantined(piece.stream, piece.path, rows, self.batch_id)
            return
        of = self.streams[piece.stream]
        kept, late = take_rows(rows, place, of.time, of.lateness_us)
        for kind, part in ((ARCHIVED, kept), (LATE, late)):
            if part.num_rows:
                yield kind, stored_rows(of, part, piece.path)

    def _report(self, kind: str, stream: str, rows: pa.Table) -> Found:
        span = {"min": None, "max": None}
        if kind == ARCHIVED:
            span = pc.min_max(rows[self.streams[stream].time].cast(pa.int64())).as_py()
        if self.places is None:
            payload = b"" if kind == LATE else ipc_bytes(rows)
            return Found(kind, stream, rows.num_rows, span["min"], span["max"], payload=payload)
        file = write_file(self.places.table(kind, stream), rows)
        return Found(kind, stream, rows.num_rows, span["min"], span["max"], file)
