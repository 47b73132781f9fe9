"""What every command starts from: the configuration it was told, the catalog it names, the clock.

Nothing is read before a command asks for it, so that help is quick and works anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from moirae.errors import CatalogError

if TYPE_CHECKING:
    from moirae.config import Config
    from moirae.ports.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Session:
    """`clock` gives microseconds UTC; tests wind it by hand."""

    file: Path | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], int] = lambda: time.time_ns() // 1000

    def config(self) -> Config:
        from moirae.config import load_config

        return load_config(self.file, overrides=self.overrides)

    @contextmanager
    def catalog(self, config: Config | None = None, *, create: bool = False) -> Iterator[Catalog]:
        """The catalog, closed afterwards. Only a command that changes something makes a new one."""
        from moirae.adapters.spark.job import catalog_of

        config = config or self.config()
        file = catalog_file(config)
        if file is not None and not file.exists() and not create:
            raise CatalogError(
                f"catalog {file}: expected a catalog, but nothing is there yet; "
                "deploy a pack with `moirae deploy`, start the platform with `moirae up`, or name another store"
            )
        catalog = catalog_of(config)
        try:
            yield catalog
        finally:
            catalog.close()


def catalog_file(config: Config) -> Path | None:
    """The file of a SQLite catalog; none for a server."""
    scheme, _, path = config.catalog.url.partition(":///")
    return Path(path) if scheme == "sqlite" else None


def session_of(context: typer.Context) -> Session:
    session = context.obj
    assert isinstance(session, Session), "the root command makes the session"
    return session


def parse_settings(written: list[str]) -> dict[str, str]:
    """
    >>> parse_settings(["spark.master=local[2]", "history.chunk_age = 1 day"])
    {'spark.master': 'local[2]', 'history.chunk_age': '1 day'}
    """
    pairs = {}
    for each in written:
        key, equals, value = each.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"'{each}' is no setting; write section.key=value", param_hint="--set")
        pairs[key.strip()] = value.strip()
    return pairs
