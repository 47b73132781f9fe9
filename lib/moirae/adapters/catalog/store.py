"""The catalog in one object, opened by URL. Whoever holds one holds a database of exactly this schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError

from moirae.adapters.catalog.batches import BatchesSection
from moirae.adapters.catalog.chunks import ChunksSection
from moirae.adapters.catalog.connect import connect, reason, show
from moirae.adapters.catalog.events import EventsSection
from moirae.adapters.catalog.migrate import ensure_head
from moirae.adapters.catalog.runs import RunsSection
from moirae.adapters.catalog.statements import StatementsSection
from moirae.adapters.catalog.tasks import TasksSection
from moirae.errors import CatalogError

if TYPE_CHECKING:
    from types import TracebackType

    from moirae.ports.catalog import Catalog


class SqlCatalog(StatementsSection, ChunksSection, EventsSection, TasksSection, BatchesSection, RunsSection):
    """Safe to share between threads; every process opens its own."""

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> SqlCatalog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def open_catalog(url: str, *, create: bool = True) -> SqlCatalog:
    """Open `sqlite:///path` or `postgresql+psycopg://…` and bring its schema to this version's.

    Without `create`, a catalog that is not there is an error instead of a new one.
    """
    engine = connect(url, create)
    try:
        ensure_head(engine, create)
    except BaseException as error:
        engine.dispose()
        if not isinstance(error, DatabaseError):
            raise
        said = f"catalog {show(url)}: cannot be opened ({reason(error)})"
        raise CatalogError(f"{said}; see that the database is there and that it is a catalog") from error
    return SqlCatalog(engine)


if TYPE_CHECKING:
    _: type[Catalog] = SqlCatalog  # every method of the port is here, with its types
