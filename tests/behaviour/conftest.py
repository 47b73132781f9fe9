"""One behaviour suite, every database: a test that asks for `catalog` runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from moirae.adapters.catalog import SqlCatalog, open_catalog

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A server for the run; each call makes a new empty database and gives its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the server package warns of folders that are none of ours
        from pgserver.postgres_server import get_server

        server = get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
        server.psql("ALTER SYSTEM SET fsync = off")  # no test pulls the plug of the machine
        server.psql("SELECT pg_reload_conf()")
        admin = make_url(server.get_uri()).set(drivername="postgresql+psycopg")

    def new_database() -> str:
        name = f"catalog_{next(_numbers)}"
        engine = create_engine(admin, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return admin.set(database=name).render_as_string(hide_password=False)

    yield new_database
    server.cleanup()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/catalog.db"
    new_database: Callable[[], str] = request.getfixturevalue("postgres")
    return new_database()


@pytest.fixture
def catalog(url: str) -> Iterator[SqlCatalog]:
    with open_catalog(url) as opened:
        yield opened
