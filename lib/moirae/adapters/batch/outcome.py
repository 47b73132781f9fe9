"""What a batch came to, as the driver sees it: files and counts by stream, events by query. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from moirae.adapters.batch.settling import ARCHIVED, EVENTS, LATE, REFUSED, Found
from moirae.adapters.delta import NewFile
from moirae.engine.blob import read_ipc
from moirae.engine.pieces import BAD, FILE, Piece, bad_lines
from moirae.engine.placing import Placement
from moirae.ports.catalog import Counts


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one stream that fared alike, and the files that hold them."""

    rows: int = 0
    oldest: int | None = None
    newest: int | None = None
    files: tuple[NewFile, ...] = ()

    def __add__(self, other: Part) -> Part:
        oldest = [at for at in (self.oldest, other.oldest) if at is not None]
        newest = [at for at in (self.newest, other.newest) if at is not None]
        span = min(oldest, default=None), max(newest, default=None)
        return Part(self.rows + other.rows, *span, self.files + other.files)


@dataclass(slots=True)
class Outcome:
    """Archived and late rows by stream, refused ones of all streams together, events by query."""

    archived: dict[str, Part] = field(default_factory=dict)
    late: dict[str, Part] = field(default_factory=dict)
    refused: Part = Part()
    events: list[tuple[str, pa.Table]] = field(default_factory=list)


def outcome_of(found: Iterable[Found]) -> Outcome:
    """Gather what the tasks report."""
    outcome = Outcome()
    for each in found:
        part = Part(each.rows, each.oldest, each.newest, (each.file,) if each.file else ())
        if each.kind == EVENTS:
            outcome.events.append((each.name, read_ipc(each.payload)))
        elif each.kind == REFUSED:
            outcome.refused += part
        else:
            of_kind = {ARCHIVED: outcome.archived, LATE: outcome.late}[each.kind]
            of_kind[each.name] = of_kind.get(each.name, Part()) + part
    return outcome


def duplicates(pieces: Sequence[Piece], placements: Mapping[str, Placement]) -> list[tuple[Piece, pa.Table]]:
    """Files whose content came before, each with the one line that refuses it whole."""
    twice = [piece for piece in pieces if piece.kind == FILE and placements[piece.path].duplicate_of]
    return [
        (file, bad_lines([0], [""], [f"duplicate of {placements[file.path].duplicate_of}: {file.rows} rows"]))
        for file in twice
    ]


def counts_of(pieces: Sequence[Piece], placements: Mapping[str, Placement], outcome: Outcome) -> dict[str, Counts]:
    """Landed = archived + late + quarantined, for every stream and batch; a duplicate file is one refused row."""
    landed: dict[str, int] = {}
    refused: dict[str, int] = {}
    for piece in pieces:
        twice = bool(placements[piece.path].duplicate_of)
        if piece.kind == FILE:
            landed[piece.stream] = landed.get(piece.stream, 0) + (1 if twice else piece.rows)
            refused[piece.stream] = refused.get(piece.stream, 0) + twice
        elif piece.kind == BAD and not twice:
            refused[piece.stream] = refused.get(piece.stream, 0) + piece.rows
    return {
        stream: Counts(
            landed=count,
            archived=outcome.archived.get(stream, Part()).rows,
            late=outcome.late.get(stream, Part()).rows,
            quarantined=refused[stream],
        )
        for stream, count in landed.items()
    }
