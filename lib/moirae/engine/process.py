"""The engine in one process: files or rows in, events out. What tests and `moirae run` use, and the smallest host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from moirae.engine.arrival import watermark_of
from moirae.engine.host import BucketHost, BucketState, sort_events
from moirae.engine.pieces import ARCHIVE, BAD, BUCKET, FILE, FileReader, payload_table
from moirae.engine.placing import Standing, archive_schema, place_files, take_rows
from moirae.plan import Program
from moirae.ports.kernel import END_OF_TIME, NO_WATERMARK


@dataclass(slots=True)
class ProcessRun:
    """Runs a program batch by batch, keeping everything in memory.

    `seen` remembers contents by their first path, so that a file that comes twice counts once; None does not look.
    """

    program: Program
    reader: FileReader
    standing: Standing = field(default_factory=Standing)
    seen: dict[str, str] | None = None
    archive: dict[str, list[pa.Table]] = field(default_factory=dict)
    late: dict[str, list[pa.Table]] = field(default_factory=dict)
    bad: list[tuple[str, pa.Table]] = field(default_factory=list)
    events: dict[str, list[pa.Table]] = field(default_factory=dict)
    _states: dict[tuple[str, int], BucketState] = field(default_factory=dict)

    def batch(self, files: Iterable[tuple[str, int, bytes]]) -> None:
        """One batch of (path, file time, content)."""
        pieces = [piece for path, time, content in files for piece in self.reader.read(path, time, content)]
        heads = [piece for piece in pieces if piece.kind == FILE]
        placements, self.standing = place_files(heads, self.standing, self.seen)
        if self.seen is not None:
            self.seen |= {
                head.sha256: head.path for head in heads if head.rows and not placements[head.path].duplicate_of
            }
        lateness = {stream.name: (stream.time, stream.lateness_us) for stream in self.reader.streams}
        buckets: dict[tuple[str, int], list[pa.Table]] = {}
        for piece in sorted(pieces, key=lambda p: placements[p.path].ordinal):
            place = placements[piece.path]
            if piece.kind == BAD and not place.duplicate_of:
                self.bad.append((piece.path, payload_table(piece.payload)))
            if piece.kind in (FILE, BAD):
                continue
            kept, late = take_rows(payload_table(piece.payload), place, *lateness[piece.stream])
            if piece.kind == ARCHIVE:
                self.archive.setdefault(piece.stream, []).append(kept)
                self.late.setdefault(piece.stream, []).append(late)
            elif piece.kind == BUCKET:
                buckets.setdefault((piece.operator, piece.bucket), []).append(kept)
        self._advance(buckets, self._watermarks())

    def restart(self, program: Program) -> None:
        """Go on with another program, as after a deployment: states travel as the bytes a restart would read."""
        old, new = ({o.name: BucketHost(o) for o in p.operators} for p in (self.program, program))
        self._states = {
            at: new[at[0]].load(old[at[0]].dump(state)) for at, state in self._states.items() if at[0] in new
        }
        self.program, self.reader = program, replace(self.reader, operators=program.operators)

    def finish(self) -> dict[str, pa.Table]:
        """No more rows will come: close everything. Events by query, in (at, eid) order."""
        self._advance({}, {stream.name: END_OF_TIME for stream in self.reader.streams})
        return {
            query.name: sort_events(
                pa.concat_tables(self.events.get(query.name, []) or [query.definition.schema.arrow.empty_table()])
            )
            for operator in self.program.operators
            for query in operator.queries
        }

    def archived(self) -> dict[str, pa.Table]:
        """The rows taken, by stream, in the order of arrival."""
        return {
            stream.name: pa.concat_tables([archive_schema(stream).empty_table(), *self.archive.get(stream.name, [])])
            for stream in self.reader.streams
        }

    def _watermarks(self) -> Mapping[str, int]:
        return {
            stream.name: watermark_of(self.standing.newest.get(stream.name, NO_WATERMARK), stream.lateness_us)
            for stream in self.reader.streams
        }

    def _advance(self, buckets: Mapping[tuple[str, int], Sequence[pa.Table]], watermarks: Mapping[str, int]) -> None:
        for operator in self.program.operators:
            host = BucketHost(operator)
            for bucket in range(self.reader.buckets):
                at = (operator.name, bucket)
                rows = pa.concat_tables(buckets[at]) if at in buckets else host.schema.empty_table()
                state = self._states.get(at) or host.start()
                self._states[at], found = host.advance(state, rows, watermarks[operator.stream.name])
                for name, table in found.items():
                    self.events.setdefault(name, []).append(table)
