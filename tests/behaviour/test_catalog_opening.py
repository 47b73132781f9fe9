"""What every catalog promises when it is opened: the right schema, quickly, or one clear line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event, text

from moirae.adapters.catalog import open_catalog
from moirae.adapters.catalog.migrate import VERSION_TABLE
from moirae.adapters.catalog.tables import metadata
from moirae.errors import CatalogError


@contextmanager
def statements_run() -> Iterator[list[str]]:
    """Every SQL statement any engine runs meanwhile."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def execute(url: str, sql: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(sql))
    engine.dispose()


def refusal(url: str, create: bool = True) -> str:
    with pytest.raises(CatalogError) as caught:
        open_catalog(url, create=create)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_catalog_at_head_opens_with_one_query_and_no_ddl(url: str) -> None:
    """P7: every command of the platform opens the catalog, so it must cost nothing."""
    open_catalog(url).close()
    with statements_run() as seen:
        open_catalog(url).close()
    asked = [statement for statement in seen if not statement.startswith("BEGIN")]
    assert [VERSION_TABLE in statement and statement.startswith("SELECT") for statement in asked] == [True]


def test_what_was_written_is_there_when_opened_again(url: str) -> None:
    """P7: migrating touches nothing that is at head."""
    with open_catalog(url) as catalog:
        chunk = catalog.present_chunk("traffic", "/archive", now=1)
    with open_catalog(url, create=False) as catalog:
        assert catalog.chunks() == [chunk]


def test_the_migrations_make_exactly_the_tables_the_code_uses(url: str) -> None:
    """P7: a table changed without a migration is found here."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    open_catalog(url).close()
    engine = create_engine(url)
    with engine.connect() as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
    engine.dispose()


def test_a_catalog_of_a_newer_version_is_refused(url: str) -> None:
    """P7: an old program never writes to a schema it does not know."""
    open_catalog(url).close()
    execute(url, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    assert refusal(url).endswith("expected schema 0001 or older, but found 9999; upgrade moirae")


def test_an_interrupted_creation_leaves_nothing_and_is_done_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P7: the schema comes in one transaction, so half a schema is never met."""
    from alembic.operations import Operations

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Operations, "create_index", fail)
        with pytest.raises(KeyboardInterrupt):
            open_catalog(url)
    assert "holds no catalog" in refusal(url, create=False)
    open_catalog(url).close()


def test_a_catalog_that_must_exist_is_not_created(url: str, tmp_path: Path) -> None:
    """P7: a mistyped path is an error, not a new empty platform."""
    assert refusal(f"sqlite:///{tmp_path}/none.db", create=False).endswith(
        "none.db: no such file; start the platform once, or name another catalog"
    )
    assert not (tmp_path / "none.db").exists()
    if url.startswith("postgresql"):
        assert "holds no catalog; start the platform once" in refusal(url, create=False)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """P7: the message names the folder and what to do."""
    (tmp_path / "file").write_text("in the way")
    assert "its folder cannot be made" in refusal(f"sqlite:///{tmp_path}/file/catalog.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    """P7: SQLite keeps its log beside the file, so the folder must be writable."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    assert f"{folder} is not writable; change its permissions" in refusal(f"sqlite:///{folder}/catalog.db")


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    """P7: nothing is overwritten."""
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes " * 100)
    assert "cannot be opened (file is not a database)" in refusal(f"sqlite:///{path}")
    assert path.read_text().startswith("these are my notes")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://host/db", "no url at all", ""])
def test_a_url_of_another_kind_is_refused_with_the_kinds_there_are(url: str) -> None:
    """P7: the message shows how a URL is written."""
    assert "write sqlite:///path/catalog.db or postgresql+psycopg://user@host/database" in refusal(url)


def test_a_server_that_does_not_answer_is_one_line_without_the_password() -> None:
    """P7: secrets do not get into logs."""
    message = refusal("postgresql+psycopg://moirae:geheim@127.0.0.1:1/catalog")
    assert "127.0.0.1" in message
    assert "geheim" not in message


@pytest.mark.postgres
def test_the_catalog_lives_beside_another_program_that_uses_alembic(postgres: Callable[[], str]) -> None:
    """P7: Airflow may keep its tables in the same database."""
    url = postgres()
    execute(url, "CREATE TABLE alembic_version AS SELECT 'airflow' AS version_num")
    with open_catalog(url) as catalog:
        assert catalog.program_version() == 0


def test_sqlite_writes_ahead_waits_for_others_and_keeps_references(tmp_path: Path) -> None:
    """P7: several processes share one file safely."""
    with open_catalog(f"sqlite:///{tmp_path}/catalog.db") as catalog, catalog.writing() as connection:
        pragmas = ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert found == ["wal", 30000, 1, 2]


def test_readers_of_sqlite_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    """P7: a status screen never waits for a batch; it shows the last commit."""
    url = f"sqlite:///{tmp_path}/catalog.db"
    with open_catalog(url) as writing, open_catalog(url) as reading, writing.writing() as connection:
        connection.execute(text("INSERT INTO retired VALUES ('/old', 1)"))
        assert reading.retired(before=9) == []


def test_a_database_that_fails_later_is_one_line(tmp_path: Path) -> None:
    """P7: a full or locked database is told as one line too."""
    url = f"sqlite:///{tmp_path}/catalog.db"
    with open_catalog(url) as catalog:
        execute(url, "DROP TABLE beats")
        with pytest.raises(CatalogError, match=r"catalog sqlite:.*no such table: beats; see that the database runs"):
            catalog.beats()
