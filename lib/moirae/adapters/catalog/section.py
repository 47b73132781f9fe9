"""What every section of the catalog shares: transactions, rows from dataclasses, inserts that respect what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Table, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import InterfaceError, OperationalError

from moirae.adapters.catalog.connect import reason, show, writer
from moirae.adapters.catalog.tables import counters
from moirae.errors import CatalogError

T = TypeVar("T")
IN_LIST = 1000  # values of one IN (...): far below both databases' limits on parameters


class Section:
    """Each public method of a section opens exactly one of these transactions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = writer(engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with one_line(self._engine), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with one_line(self._engine), self._writer.begin() as connection:
            yield connection


@contextmanager
def one_line(engine: Engine) -> Iterator[None]:
    """A database that cannot be reached, is locked or full is told in one line."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        message = (
            f"catalog {show(engine.url)}: {reason(error)}; see that the database runs, is not locked and has space"
        )
        raise CatalogError(message) from error


def as_rows(items: Sequence[Any], **extra: object) -> list[dict[str, object]]:
    """One dictionary a dataclass; `extra` columns are added to each.

    >>> from moirae.ports.catalog import Retired
    >>> as_rows([Retired("a", 1)], why="old")
    [{'path': 'a', 'retired_at': 1, 'why': 'old'}]
    """
    if not items:
        return []
    names = [field.name for field in fields(items[0])]
    values = attrgetter(*names)
    return [dict(zip(names, values(item), strict=True)) | extra for item in items]


def slices(values: Sequence[T], size: int = IN_LIST) -> Iterator[Sequence[T]]:
    """
    >>> list(slices([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    return (values[start : start + size] for start in range(0, len(values), size))


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows whose key is not there yet.

    Sorted by key: two PostgreSQL transactions that insert the same keys in one order wait, in two orders they deadlock.
    """
    if not rows:
        return
    keys = [column.name for column in table.primary_key]
    ordered = sorted(rows, key=lambda row: [row[key] for key in keys])
    connection.execute(upsert(connection, table).on_conflict_do_nothing(), ordered)


def lock_counter(connection: Connection, name: str) -> int:
    """A counter's value, nobody else's until the transaction ends; a new one is 0."""
    insert_new(connection, counters, [{"name": name, "value": 0}])
    query = select(counters.c.value).where(counters.c.name == name).with_for_update()
    return int(connection.execute(query).scalar_one())


def set_counter(connection: Connection, name: str, value: int) -> None:
    connection.execute(update(counters).where(counters.c.name == name).values(value=value))


def upsert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """The dialect's INSERT, the one that knows ON CONFLICT."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
