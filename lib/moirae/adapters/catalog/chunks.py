"""Chunks and their pointers. Invariant: a stream has exactly one open chunk, and only an open chunk grows.

Rolling, committing and publishing lock the chunk's row first, so a batch is either inside the sealed version or is told
that the chunk was rolled.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, exists, insert, select, update

from moirae.adapters.catalog.section import Section, insert_new
from moirae.adapters.catalog.tables import chunks as table
from moirae.adapters.catalog.tables import retired as retired_table
from moirae.errors import ChunkError
from moirae.ports.catalog import Chunk, ChunkId, ChunkState, Retired, Tier


class ChunksSection(Section):
    def present_chunk(self, stream: str, root: str, now: int) -> Chunk:
        with self.reading() as connection:
            found = _open_chunk(connection, stream)
        if found is not None:
            return found
        with self.writing() as connection:
            insert_new(connection, table, [_opened(stream, root, 1, 1, now)])  # somebody else may be first
            return _current(connection, stream)

    def roll(self, chunk_id: ChunkId, epoch: int, now: int) -> Chunk:
        with self.writing() as connection:
            chunk = lock_chunk(connection, chunk_id)
            if chunk.state == "open" and chunk.epoch == epoch and chunk.rows > 0:
                _change(connection, chunk_id, state="sealed", sealed_at=now)
                following = _opened(chunk.stream, _root(chunk), chunk.sequence + 1, chunk.epoch + 1, now)
                connection.execute(insert(table).values(following))
            return _current(connection, chunk.stream)

    def publish_generation(
        self,
        chunk_id: ChunkId,
        expected_generation: int,
        path: str,
        delta_version: int,
        rows: int,
        bytes: int,
        now: int,
    ) -> bool:
        with self.writing() as connection:
            chunk = lock_chunk(connection, chunk_id)
            if chunk.generation != expected_generation:
                return False
            _refuse_open(chunk, "roll it before rewriting it")
            _refuse_used_folder(connection, chunk, path)
            insert_new(connection, retired_table, [{"path": chunk.path, "retired_at": now}])
            pointer = {"generation": expected_generation + 1, "path": path, "delta_version": delta_version}
            _change(connection, chunk_id, **pointer, rows=rows, bytes=bytes)
            return True

    def retired(self, before: int) -> list[Retired]:
        query = select(retired_table).where(retired_table.c.retired_at < before)
        with self.reading() as connection:
            found = connection.execute(query.order_by(retired_table.c.retired_at, retired_table.c.path))
            return [Retired(**row._mapping) for row in found]

    def forget_retired(self, path: str) -> None:
        with self.writing() as connection:
            connection.execute(delete(retired_table).where(retired_table.c.path == path))

    def record_check(self, chunk_id: ChunkId, passed: bool, reason: str, now: int) -> Chunk:
        state, result = ("sealed", "passed") if passed else ("held", "failed")
        with self.writing() as connection:
            chunk = lock_chunk(connection, chunk_id)
            _refuse_open(chunk, "roll it before checking it")
            if chunk.state == "expired":
                raise ChunkError(chunk_id, "it has expired", "check a chunk that is still kept")
            _change(connection, chunk_id, state=state, check_result=result, check_reason=reason, checked_at=now)
            return lock_chunk(connection, chunk_id)

    def set_tier(self, chunk_id: ChunkId, tier: Tier, now: int) -> Chunk:
        with self.writing() as connection:
            _refuse_open(lock_chunk(connection, chunk_id), "roll it before moving it to another tier")
            _change(connection, chunk_id, tier=tier, tiered_at=now)
            return lock_chunk(connection, chunk_id)

    def chunks(self, stream: str | None = None, states: Iterable[ChunkState] | None = None) -> list[Chunk]:
        query = select(table).order_by(table.c.stream, table.c.sequence)
        if stream is not None:
            query = query.where(table.c.stream == stream)
        if states is not None:
            query = query.where(table.c.state.in_(list(states)))
        with self.reading() as connection:
            return [Chunk(**row._mapping) for row in connection.execute(query)]


def lock_chunk(connection: Connection, chunk_id: ChunkId) -> Chunk:
    """The chunk as it is and will stay until this transaction ends."""
    row = connection.execute(select(table).where(table.c.id == chunk_id).with_for_update()).one_or_none()
    if row is None:
        raise ChunkError(chunk_id, "the catalog does not know it", "see `moirae chunks` for those it knows")
    return Chunk(**row._mapping)


def _opened(stream: str, root: str, sequence: int, epoch: int, now: int) -> dict[str, object]:
    """The row of a chunk nobody has written to yet."""
    name = {"id": f"{stream}/{sequence:06d}", "stream": stream, "sequence": sequence, "epoch": epoch}
    pointer = {"generation": 0, "path": f"{root}/{stream}/{sequence:06d}/g0", "delta_version": None}
    content = {"min_at": None, "max_at": None, "rows": 0, "bytes": 0}
    life = {"state": "open", "tier": "present", "opened_at": now, "sealed_at": None, "tiered_at": None}
    check = {"checked_at": None, "check_result": "none", "check_reason": ""}
    return {**name, **pointer, **content, **life, **check}


def _root(chunk: Chunk) -> str:
    """Where the chunks of all streams lie: an open chunk is always `<root>/<stream>/<sequence>/g0`."""
    return chunk.path.rsplit("/", 3)[0]


def _open_chunk(connection: Connection, stream: str) -> Chunk | None:
    row = connection.execute(select(table).where(table.c.stream == stream, table.c.state == "open")).one_or_none()
    return None if row is None else Chunk(**row._mapping)


def _current(connection: Connection, stream: str) -> Chunk:
    found = _open_chunk(connection, stream)
    if found is None:
        raise ChunkError(stream, "the stream has no open chunk", "ask for its present chunk first")
    return found


def _change(connection: Connection, chunk_id: ChunkId, **values: object) -> None:
    connection.execute(update(table).where(table.c.id == chunk_id).values(**values))


def _refuse_open(chunk: Chunk, remedy: str) -> None:
    if chunk.state == "open":
        raise ChunkError(chunk.id, "it is still open and growing", remedy)


def _refuse_used_folder(connection: Connection, chunk: Chunk, path: str) -> None:
    """A folder that was ever pointed to is retired and deleted; publishing it again would delete live rows."""
    waiting = connection.scalar(select(exists().where(retired_table.c.path == path)))
    if path == chunk.path or waiting:
        raise ChunkError(
            chunk.id, f"folder {path} is in use or waits to be deleted", "write each generation to a new folder"
        )
