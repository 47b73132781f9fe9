"""Bring a database to the newest schema. At head, that is one query and no DDL.

A migration runs in one transaction under a lock, so processes that open a new catalog together make it once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, column, select, table, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from moirae.adapters.catalog.connect import show, writer
from moirae.errors import CatalogError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

HEAD = "0001"  # the newest file of migrations/versions
VERSION_TABLE = "moirae_version"  # not alembic's default: Airflow may live in the same database
_LOCK = 0x4D6F6972  # any constant: what migrating processes lock on PostgreSQL


def ensure_head(engine: Engine, create: bool) -> None:
    found = _revision(engine)
    if found == HEAD:
        return
    if found is None and not create:
        raise CatalogError(
            f"catalog {show(engine.url)}: holds no catalog; start the platform once, or name another one"
        )
    with writer(engine).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        _upgrade(connection)


def _revision(engine: Engine) -> str | None:
    """The schema's revision; None where there is no schema yet."""
    version = table(VERSION_TABLE, column("version_num"))
    try:
        with engine.connect() as connection:
            return connection.scalar(select(version.c.version_num))
    except (OperationalError, ProgrammingError) as error:
        missing = ("no such table", "does not exist")
        if any(words in str(error.orig) for words in missing) and VERSION_TABLE in str(error.orig):
            return None
        raise


def _upgrade(connection: Connection) -> None:
    """Alembic with these lines as its environment, so that nothing but the versions has to be packaged."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    with EnvironmentContext(config, script, fn=lambda found, _: script._upgrade_revs(HEAD, found)) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        _refuse_newer(connection, environment.get_context().get_current_revision(), script)
        environment.run_migrations()


def _refuse_newer(connection: Connection, found: str | None, script: ScriptDirectory) -> None:
    known = {revision.revision for revision in script.walk_revisions()}
    if found is not None and found not in known:
        raise CatalogError(
            f"catalog {show(connection.engine.url)}: expected schema {HEAD} or older, but found {found}; upgrade moirae"
        )
