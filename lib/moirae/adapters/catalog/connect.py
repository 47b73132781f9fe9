"""Engines whose write transactions are serial where they meet: BEGIN IMMEDIATE on SQLite, row locks on PostgreSQL.

A SQLite transaction that begins by reading and then writes can fail half-way when another process wrote in between. So
writers take the write lock at once and wait for each other; readers never wait, they see the last commit (WAL).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from moirae.errors import CatalogError

WRITES = "moirae_writes"  # the execution option of a connection that will write
BUSY_S = 30
_EXAMPLES = "write sqlite:///path/catalog.db or postgresql+psycopg://user@host/database"


def connect(url: str, create: bool) -> Engine:
    parsed = _parse(url)
    if parsed.drivername == "postgresql+psycopg":
        return create_engine(parsed, pool_pre_ping=True)  # survives a restart of the server
    _check_file(Path(str(parsed.database)), create)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_S})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def writer(engine: Engine) -> Engine:
    """The same engine and connections, but each transaction is a write transaction from its first moment."""
    return engine.execution_options(**{WRITES: True})


def show(url: str | URL) -> str:
    """A URL fit for messages: no password.

    >>> show("postgresql+psycopg://moirae:secret@db/catalog")
    'postgresql+psycopg://moirae:***@db/catalog'
    """
    return make_url(url).render_as_string(hide_password=True)


def reason(error: Exception) -> str:
    """The first line of what the database said.

    >>> reason(ValueError("disk full\\nwith details"))
    'disk full'
    """
    said = str(getattr(error, "orig", None) or error)
    return said.strip().splitlines()[0] if said.strip() else type(error).__name__


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise CatalogError(f"catalog: expected a database URL, but found '{url}'; {_EXAMPLES}") from error
    named_file = parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:")
    if not named_file and parsed.drivername != "postgresql+psycopg":
        raise CatalogError(
            f"catalog: expected a SQLite file or a PostgreSQL server, but found '{show(url)}'; {_EXAMPLES}"
        )
    return parsed


def _check_file(path: Path, create: bool) -> None:
    """SQLite keeps its write-ahead log beside the file, so the folder must be writable too."""
    if not create and not path.exists():
        raise CatalogError(f"catalog {path}: no such file; start the platform once, or name another catalog")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CatalogError(f"catalog {path}: its folder cannot be made ({error.strerror}); choose another") from error
    for place in (path.parent, path):
        if place.exists() and not os.access(place, os.W_OK):
            raise CatalogError(
                f"catalog {path}: {place} is not writable; change its permissions or choose another folder"
            )


def _prepare(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # sqlite3 must not begin transactions by itself: _begin does
    connection.execute(f"PRAGMA busy_timeout = {BUSY_S * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")  # a commit that was answered survives a power cut
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        _use_wal(connection)


def _use_wal(connection: Any) -> None:
    """SQLite does not wait by itself when two processes change the journal of a new file at once."""
    for _ in range(BUSY_S * 100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except connection.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(0.01)
        else:
            return
    raise OperationalError("PRAGMA journal_mode = WAL", None, Exception("database is locked"))


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
