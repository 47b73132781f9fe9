"""A command line over a store of its own, and surroundings that do not depend on who runs the tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import PACK, catalog_at, deploy, fill


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MOIRAE_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def bare(tmp_path: Path) -> Cli:
    """Over a store where nothing ever was."""
    return Cli(tmp_path / "bare")


@pytest.fixture
def quiet(tmp_path: Path) -> Cli:
    """Over a store where the pack is deployed, but no row has landed."""
    store = tmp_path / "quiet"
    store.mkdir()
    with catalog_at(store) as catalog:
        deploy(catalog)
    return Cli(store)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled once: to copy it takes a tenth of the time."""
    store = tmp_path_factory.mktemp("filled")
    fill(store)
    return store


@pytest.fixture
def cli(tmp_path: Path, filled: Path) -> Cli:
    """Over the filled store."""
    return Cli(shutil.copytree(filled, tmp_path / "store"))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The pack that is deployed in the filled store."""
    path = tmp_path / "pack.sql"
    path.write_text(PACK, "utf-8")
    return path
