"""The files of a Delta table at a version. Moirae's tables are only appended to and use no deletion vectors, so a
version is a list of parquet files; naming them takes milliseconds where a Spark session takes seconds."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from moirae.adapters.storage import locate
from moirae.errors import MoiraeError


@dataclass(frozen=True, slots=True)
class DataFile:
    """One parquet file; `path` is relative to the table."""

    path: str
    size: int


def open_table(table: str, version: int | None = None) -> DeltaTable | None:
    """The table at a version (default: the newest); None if there is no table."""
    try:
        return DeltaTable(table, version=version)
    except TableNotFoundError:
        return None
    except DeltaError as error:
        wanted = "a readable Delta table" if version is None else f"version {version}"
        problem = f"{table}: expected {wanted}, but found: {error}"
        raise MoiraeError(f"{problem}; the table is damaged or its log has expired") from error


def latest_version(table: str) -> int | None:
    """The newest committed version; None if there is no table."""
    found = open_table(table)
    return None if found is None else int(found.version())


def last_transaction(table: str, writer: str) -> int | None:
    """The number of a writer's last append; None if it never wrote."""
    found = open_table(table)
    return None if found is None else found.transaction_version(writer)


def files_at(table: str, version: int) -> list[DataFile]:
    """The live files of a version, oldest first."""
    found = open_table(table, version)
    if found is None:
        raise MoiraeError(f"{table}: expected a Delta table, but found none; nothing was written there yet")
    live = pa.table(found.get_add_actions()).select(["modification_time", "path", "size_bytes"])
    in_order = live.sort_by([("modification_time", "ascending"), ("path", "ascending")])
    paths, sizes = (in_order[name].to_pylist() for name in ("path", "size_bytes"))
    return [DataFile(path, size) for path, size in zip(paths, sizes, strict=True)]


def read_table(table: str, version: int | None = None, columns: list[str] | None = None) -> pa.Table:
    """The rows of a version (default: the newest) in the order they were written."""
    version = latest_version(table) if version is None else version
    if version is None:
        raise MoiraeError(f"{table}: expected a Delta table, but found none; nothing was written there yet")
    system, root = locate(table)
    paths = [f"{root}/{file.path}" for file in files_at(table, version)]
    if not paths:
        raise MoiraeError(f"{table}: version {version} holds no files; read a later version")
    return ds.dataset(paths, filesystem=system, format="parquet").to_table(columns=columns, use_threads=False)
