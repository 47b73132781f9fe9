"""Where each file of a batch stands in its stream's order of arrival. Decided once, on the driver, from small facts.

Files are ordered by (time, path). A row's position is its file's ordinal in the stream and its line, so positions grow
with arrival, are the same when a batch is replayed, and are archived with the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from moirae.engine.arrival import late_rows
from moirae.engine.pieces import Piece
from moirae.model.query import StreamDef
from moirae.ports.kernel import NO_WATERMARK

_LINE_BITS = 32


@dataclass(frozen=True, slots=True)
class Placement:
    """`newest_before`: the newest time in the stream before this file. `duplicate_of`: the same content came before."""

    ordinal: int
    newest_before: int
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a job has come, by stream: the next file's ordinal and the newest time taken."""

    ordinals: Mapping[str, int] = field(default_factory=dict)
    newest: Mapping[str, int] = field(default_factory=dict)


def place_files(
    files: Iterable[Piece], standing: Standing, seen: Mapping[str, str] | None
) -> tuple[dict[str, Placement], Standing]:
    """A placement by path, and the standing after the batch.

    `seen` gives the first path of contents known before; None: the files are pieces of one input, where equal contents
    are no duplicates.
    """
    ordinals, newest, first_path = dict(standing.ordinals), dict(standing.newest), dict(seen or {})
    placements = {}
    for file in sorted(files, key=lambda piece: (piece.file_time, piece.path)):
        duplicate_of = "" if seen is None or not file.rows else first_path.get(file.sha256, "")
        ordinal, before = ordinals.get(file.stream, 0), newest.get(file.stream, NO_WATERMARK)
        placements[file.path] = Placement(ordinal, before, duplicate_of)
        if not duplicate_of:
            first_path[file.sha256] = file.path
            ordinals[file.stream] = ordinal + 1
            newest[file.stream] = max(before, file.newest)
    return placements, Standing(ordinals, newest)


def archive_schema(stream: StreamDef) -> pa.Schema:
    """A stream's rows as archived: its columns, then their position."""
    return stream.schema.arrow.append(pa.field("_pos", pa.int64()))


def line_of(position: Any) -> Any:
    """The line of a position: of a number, an array or a column."""
    return position % (1 << _LINE_BITS)


def take_rows(rows: pa.Table, placement: Placement, time: str, lateness_us: int) -> tuple[pa.Table, pa.Table]:
    """A file's rows in time and its late rows, positions put in place of lines. A duplicate file has neither."""
    if placement.duplicate_of:
        rows = rows.slice(0, 0)
    at = rows[time].cast(pa.int64()).to_numpy()
    late = late_rows(at, rows["_before"].to_numpy(), placement.newest_before, lateness_us)
    position = (np.int64(placement.ordinal) << _LINE_BITS) | rows["_line"].to_numpy()
    placed = rows.drop_columns(["_before", "_line"]).append_column("_pos", pa.array(position))
    if not late.any():
        return placed, placed.slice(0, 0)
    return placed.filter(pa.array(~late)), placed.filter(pa.array(late))
