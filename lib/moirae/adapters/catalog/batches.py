"""Micro-batches, applied once and whole: a batch that was applied, or whose chunk was rolled, changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace

from sqlalchemy import Connection, bindparam, select, update

from moirae.adapters.catalog.chunks import lock_chunk
from moirae.adapters.catalog.section import Section, as_rows, insert_new, slices, upsert
from moirae.adapters.catalog.tables import batches, chunks, files
from moirae.adapters.catalog.tables import totals as totals_table
from moirae.adapters.catalog.tasks import insert_tasks
from moirae.ports.catalog import Append, BatchCommit, BatchRecord, Chunk, ChunkId, CommitResult, Counts

_NEVER = -1  # the batch of a job that has not committed yet
_SUMS = ("landed", "archived", "late", "quarantined")


class BatchesSection(Section):
    def commit_batch(self, batch: BatchCommit) -> CommitResult:
        with self.writing() as connection:
            last = _lock_job(connection, batch.job)
            if batch.batch_id <= last.batch_id:
                return CommitResult("already")
            locked = _lock_chunks(connection, batch.appends)
            stale = _stale(batch.appends, locked)
            if stale:
                return CommitResult("rolled", stale)
            _write_job(connection, batch, last)
            _write_chunks(connection, batch.appends, locked)
            _add_totals(connection, batch.counts)
            insert_new(connection, files, as_rows(batch.files))
            insert_tasks(connection, batch.tasks, batch.committed_at)
            return CommitResult("committed")

    def last_batch(self, job: str) -> BatchRecord | None:
        with self.reading() as connection:
            record = _job(connection, job, lock=False)
        return None if record is None or record.batch_id == _NEVER else record

    def totals(self) -> dict[str, Counts]:
        with self.reading() as connection:
            found = connection.execute(select(totals_table).order_by(totals_table.c.stream))
            return {row.stream: Counts(row.landed, row.archived, row.late, row.quarantined) for row in found}

    def file_seen(self, sha256s: Iterable[str]) -> dict[str, str]:
        seen: dict[str, str] = {}
        with self.reading() as connection:
            for some in slices(list(sha256s)):
                query = select(files.c.sha256, files.c.path).where(files.c.sha256.in_(some))
                seen.update((row.sha256, row.path) for row in connection.execute(query))
        return seen


def accumulate(chunk: Chunk, append: Append) -> Chunk:
    """The chunk after an append. An append without rows has no times and leaves the range alone."""
    earliest = [at for at in (chunk.min_at, append.min_at) if at is not None]
    latest = [at for at in (chunk.max_at, append.max_at) if at is not None]
    return replace(
        chunk,
        delta_version=append.delta_version,
        rows=chunk.rows + append.rows,
        bytes=chunk.bytes + append.bytes,
        min_at=min(earliest, default=None),
        max_at=max(latest, default=None),
    )


def _lock_job(connection: Connection, job: str) -> BatchRecord:
    fresh = {"job": job, "batch_id": _NEVER, "committed_at": 0, "watermarks": "{}", "positions": "{}"}
    found = _job(connection, job, lock=True)
    if found is None:
        insert_new(connection, batches, [fresh])
        found = _job(connection, job, lock=True)
    assert found is not None
    return found


def _job(connection: Connection, job: str, lock: bool) -> BatchRecord | None:
    query = select(batches).where(batches.c.job == job)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        return None
    return BatchRecord(job, row.batch_id, row.committed_at, json.loads(row.watermarks), json.loads(row.positions))


def _lock_chunks(connection: Connection, appends: Iterable[Append]) -> dict[ChunkId, Chunk]:
    """In the order of ids, so that two batches never wait for each other crosswise."""
    return {id_: lock_chunk(connection, id_) for id_ in sorted({append.chunk_id for append in appends})}


def _stale(appends: Iterable[Append], locked: Mapping[ChunkId, Chunk]) -> tuple[str, ...]:
    current = {id_: chunk.epoch for id_, chunk in locked.items() if chunk.state == "open"}
    return tuple(sorted({append.stream for append in appends if current.get(append.chunk_id) != append.epoch}))


def _write_job(connection: Connection, batch: BatchCommit, last: BatchRecord) -> None:
    values = {
        "batch_id": batch.batch_id,
        "committed_at": batch.committed_at,
        "watermarks": json.dumps({**last.watermarks, **batch.watermarks}, sort_keys=True),
        "positions": json.dumps({**last.positions, **batch.positions}, sort_keys=True),
    }
    connection.execute(update(batches).where(batches.c.job == batch.job).values(values))


def _write_chunks(connection: Connection, appends: Iterable[Append], locked: Mapping[ChunkId, Chunk]) -> None:
    grown = dict(locked)
    for append in appends:
        grown[append.chunk_id] = accumulate(grown[append.chunk_id], append)
    names = ("delta_version", "rows", "bytes", "min_at", "max_at")
    rows = [{"chunk": chunk.id} | {name: getattr(chunk, name) for name in names} for chunk in grown.values()]
    if rows:
        connection.execute(update(chunks).where(chunks.c.id == bindparam("chunk")), rows)


def _add_totals(connection: Connection, counts: Mapping[str, Counts]) -> None:
    if not counts:
        return
    statement = upsert(connection, totals_table)
    sums = {name: totals_table.c[name] + statement.excluded[name] for name in _SUMS}
    rows = [{"stream": stream, **asdict(counts[stream])} for stream in sorted(counts)]
    connection.execute(statement.on_conflict_do_update(index_elements=["stream"], set_=sums), rows)
