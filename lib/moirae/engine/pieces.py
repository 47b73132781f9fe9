"""A landing file taken apart: what travels between the step that parses and the step that runs queries.

A piece is some bytes with a small head, whatever the stream: rows for the archive, rows of one operator's bucket, or
lines that could not be read. So deploying a query changes what pieces there are, and nothing that carries them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moirae.engine.arrival import newest_before
from moirae.engine.blob import ipc_bytes, read_ipc
from moirae.engine.keys import bucket_of, key_columns, key_text
from moirae.ingest import is_waiting, parse_file, stream_of
from moirae.model.query import StreamDef
from moirae.plan import Operator
from moirae.ports.kernel import NO_WATERMARK

EMPTY = "empty: nothing was in the file when it was read; write under a name that begins with a dot, then rename"
FILE, ARCHIVE, BUCKET, BAD = "file", "archive", "bucket", "bad"


@dataclass(frozen=True, slots=True)
class Piece:
    """`newest` is the newest time in the file; `rows` counts what the payload holds (for a file: lines read).

    `sha256` tells files of equal content apart by stream: the same bytes may well be news to another stream. `size` is
    that of the payload, which whoever carries the pieces may keep elsewhere under the name `spilled`.
    """

    kind: str
    stream: str
    path: str
    file_time: int
    sha256: str
    rows: int
    newest: int = NO_WATERMARK
    operator: str = ""
    bucket: int = 0
    payload: bytes = b""
    size: int = 0
    spilled: str = ""


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads landing files of known streams for the operators that want their rows."""

    landing: str
    streams: tuple[StreamDef, ...]
    operators: tuple[Operator, ...]
    buckets: int
    max_ahead_us: int | None = None

    def read(self, path: str, file_time: int, content: bytes) -> Iterator[Piece]:
        """All pieces of one file, the file itself first. A file still being written has none."""
        name = path.rsplit("/", 1)[-1]
        if is_waiting(name):
            return
        stream_name, stream = self._stream(path)
        digest = _digest(stream.name if stream else f"unknown {stream_name}", content)
        head = _Head(stream.name if stream else stream_name, path, file_time, digest)
        if stream is None:
            known = ", ".join(sorted(s.source_name for s in self.streams)) or "none"
            reason = f"no stream reads from '{stream_name}' (streams read from: {known}); deploy one and replay"
            yield from head.refused(_opening(content), reason)
            return
        if not content:
            yield from head.refused("", EMPTY)
            return
        parsed = parse_file(content, name, stream, file_time_us=file_time, max_ahead_us=self.max_ahead_us)
        at = parsed.rows[stream.time].cast(pa.int64()).to_numpy()
        newest = int(at.max()) if len(at) else NO_WATERMARK
        yield head.piece(FILE, parsed.rows.num_rows + parsed.bad.num_rows, newest)
        if parsed.bad.num_rows:
            yield head.piece(BAD, parsed.bad.num_rows, newest, payload=ipc_bytes(parsed.bad))
        if parsed.rows.num_rows:
            rows = parsed.rows.append_column("_before", pa.array(newest_before(at)))
            yield head.piece(ARCHIVE, rows.num_rows, newest, payload=ipc_bytes(rows))
            yield from self._bucket_pieces(head, stream, rows, newest)

    def gone(self, path: str, file_time: int) -> Iterator[Piece]:
        """The pieces of a file that was listed and then taken away: not forgotten, though nobody knows what it held."""
        stream_name, stream = self._stream(path)
        head = _Head(stream.name if stream else stream_name, path, file_time, _digest(path, b"gone"))
        yield from head.refused("", "the file was gone before it was read; land it again")

    def _stream(self, path: str) -> tuple[str, StreamDef | None]:
        """The source a file belongs to, and the stream that reads from it."""
        name = stream_of(path, self.landing)
        return name, next((stream for stream in self.streams if stream.source_name == name), None)

    def _bucket_pieces(self, head: _Head, stream: StreamDef, rows: pa.Table, newest: int) -> Iterator[Piece]:
        for operator in self.operators:
            if operator.stream.name == stream.name:
                for bucket, part in split_by_bucket(operator, rows, self.buckets):
                    payload = ipc_bytes(part)
                    yield head.piece(BUCKET, part.num_rows, newest, operator.name, bucket, payload)


@dataclass(frozen=True, slots=True)
class _Head:
    stream: str
    path: str
    file_time: int
    sha256: str

    def refused(self, text: str, reason: str) -> Iterator[Piece]:
        """A file refused whole."""
        yield self.piece(FILE, 1)
        yield self.piece(BAD, 1, payload=ipc_bytes(bad_lines([0], [text], [reason])))

    def piece(
        self,
        kind: str,
        rows: int,
        newest: int = NO_WATERMARK,
        operator: str = "",
        bucket: int = 0,
        payload: bytes = b"",
    ) -> Piece:
        head = (kind, self.stream, self.path, self.file_time, self.sha256)
        return Piece(*head, rows, newest, operator, bucket, payload, len(payload))


def split_by_bucket(operator: Operator, rows: pa.Table, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    """The operator's columns of the rows, by the bucket of their key; the order within a bucket is kept."""
    extra = [name for name in ("_line", "_before", "_pos") if name in rows.column_names]
    columns = rows.select([*operator.columns, *extra])
    if buckets == 1:
        yield 0, columns
        return
    bucket = bucket_of(key_text(key_columns(operator.keys, rows), rows.num_rows), buckets)
    for number in np.unique(bucket):
        yield int(number), columns.filter(pa.array(bucket == number))


def payload_table(payload: bytes) -> pa.Table:
    return read_ipc(payload)


def bad_lines(lines: Sequence[int], texts: Sequence[str], reasons: Sequence[str]) -> pa.Table:
    return pa.table(
        {
            "line": pa.array(lines, pa.int64()),
            "text": pa.array(texts, pa.string()),
            "reason": pa.array(reasons, pa.string()),
        }
    )


def _digest(stream: str, content: bytes) -> str:
    digest = hashlib.sha256(f"{stream}\n".encode())
    digest.update(content)
    return digest.hexdigest()


def _opening(content: bytes) -> str:
    return content[:200].decode("utf-8", errors="replace")
