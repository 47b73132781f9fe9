"""One batch in two passes: files are taken apart; then rows are settled and buckets brought up to the watermark.

Between the two the driver places the files in their streams' order of arrival, from small facts. The passes are the
same for a micro-batch, for a whole folder at once and, the first one apart, for the replay of a chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from moirae.adapters.batch.settling import EVENTS, Found, Places, Settling
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.state_files import StateFiles
from moirae.adapters.batch.workers import Workers
from moirae.adapters.storage import read_bytes
from moirae.engine.blob import ipc_bytes
from moirae.engine.host import BucketHost
from moirae.engine.pieces import ARCHIVE, BAD, BUCKET, FileReader, Piece
from moirae.engine.placing import Placement, take_rows
from moirae.ingest import is_waiting
from moirae.model.query import StreamDef
from moirae.plan import Operator

_UNIT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file that has landed."""

    path: str
    time: int
    size: int


@dataclass(frozen=True, slots=True)
class Step:
    """What the second pass needs to know: the operators whose stream moves on, and how far."""

    operators: tuple[Operator, ...]
    watermarks: Mapping[str, int]  # by operator
    streams: Mapping[str, StreamDef]
    placements: Mapping[str, Placement]
    buckets: int
    places: Places | None = None  # None: rows are not stored but reported
    states: StateFiles | None = None  # None: one pass from nothing
    batch_id: int = 0
    begun_from: Mapping[str, int] = field(default_factory=dict)  # by operator: the batch whose state to continue


@dataclass(frozen=True, slots=True)
class _Rows:
    """Pieces of one stream to settle, as many as one task should take."""

    stream: str
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A bucket of an operator, with its pieces of this batch: often none, yet the watermark moves."""

    operator: Operator
    number: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


def read_files(workers: Workers, arrivals: Sequence[Arrival], reader: FileReader, spill: Spill) -> list[Piece]:
    """The pieces of all files."""

    def read(arrival: Arrival) -> Iterator[Piece]:
        if is_waiting(arrival.path):
            return
        try:
            content = read_bytes(arrival.path)
        except FileNotFoundError:
            yield from reader.gone(arrival.path, arrival.time)
            return
        for piece in reader.read(arrival.path, arrival.time, content):
            yield spill.put(piece)

    return workers(read, arrivals)


def run_step(workers: Workers, pieces: Sequence[Piece], step: Step, spill: Spill) -> list[Found]:
    """Rows settled and events found."""
    settling = Settling(step.streams, step.placements, step.batch_id, step.places)

    def work(unit: _Rows | _Bucket) -> Iterable[Found]:
        if isinstance(unit, _Rows):
            return settling.settle(unit.stream, ((piece, spill.rows(piece)) for piece in unit.pieces))
        return _advance(step, unit, spill)

    units: list[_Rows | _Bucket] = [*_buckets(pieces, step), *_rows(pieces)]
    return workers(work, units)


def _rows(pieces: Sequence[Piece]) -> Iterator[_Rows]:
    by_stream: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.kind in (ARCHIVE, BAD):
            by_stream.setdefault(piece.stream, []).append(piece)
    for stream, wanted in by_stream.items():
        held: list[Piece] = []
        size = 0
        for piece in wanted:
            if held and size + piece.size > _UNIT_BYTES:
                yield _Rows(stream, tuple(held))
                held, size = [], 0
            held.append(piece)
            size += piece.size
        yield _Rows(stream, tuple(held))


def _buckets(pieces: Sequence[Piece], step: Step) -> Iterator[_Bucket]:
    """Every bucket of every operator, its pieces in the order of arrival."""
    inbox: dict[tuple[str, int], list[Piece]] = {}
    for piece in pieces:
        if piece.kind == BUCKET:
            inbox.setdefault((piece.operator, piece.bucket), []).append(piece)
    for operator in step.operators:
        for number in range(step.buckets):
            mine = inbox.get((operator.name, number), [])
            yield _Bucket(operator, number, tuple(sorted(mine, key=lambda p: step.placements[p.path].ordinal)))


def _advance(step: Step, bucket: _Bucket, spill: Spill) -> Iterator[Found]:
    operator, states = bucket.operator, step.states
    host, stream = BucketHost(operator), operator.stream
    parts = [
        take_rows(spill.rows(piece), step.placements[piece.path], stream.time, stream.lateness_us)[0]
        for piece in bucket.pieces
    ]
    rows = pa.concat_tables(parts) if parts else host.schema.empty_table()
    blob = states.read(operator.name, bucket.number, step.begun_from.get(operator.name)) if states else None
    state, events = host.advance(host.load(blob), rows, step.watermarks[operator.name])
    if states:
        states.write(operator.name, bucket.number, step.batch_id, host.dump(state))
    yield from found_events(events)


def found_events(events: Mapping[str, pa.Table]) -> Iterator[Found]:
    for query, table in events.items():
        if table.num_rows:
            yield Found(EVENTS, query, table.num_rows, payload=ipc_bytes(table))
