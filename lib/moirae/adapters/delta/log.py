"""The files of a Delta table at a version, straight from its log.

Moirae's tables have one writer, are only appended to, and use no deletion vectors: so the live files of a version are
the adds minus the removes of the commits up to it, beginning at the last checkpoint. Reading them takes milliseconds
where a Spark session takes seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from moirae.errors import MoiraeError


@dataclass(frozen=True, slots=True)
class DataFile:
    """One parquet file; `path` is relative to the table."""

    path: str
    size: int


def latest_version(table: str) -> int | None:
    """The newest committed version; None if there is no table."""
    system, root = _open(table)
    return max(_versions(system, root), default=None)


def files_at(table: str, version: int) -> list[DataFile]:
    """The live files of a version, oldest first: checkpoints forget the order of commits, files keep their times."""
    system, root = _open(table)
    start, live = _checkpoint(system, root, version)
    for number in range(start + 1, version + 1):
        for action in _actions(system, f"{root}/_delta_log/{number:020d}.json", table, version):
            if add := action.get("add"):
                live[add["path"]] = int(add["modificationTime"]), int(add["size"])
            elif remove := action.get("remove"):
                live.pop(remove["path"], None)
    return [DataFile(unquote(path), live[path][1]) for path in sorted(live, key=lambda path: (live[path][0], path))]


def read_table(table: str, version: int | None = None, columns: list[str] | None = None) -> pa.Table:
    """The rows of a version (default: the newest) in the order they were written."""
    version = latest_version(table) if version is None else version
    if version is None:
        raise MoiraeError(f"{table}: expected a Delta table, but found none; nothing was written there yet")
    system, root = _open(table)
    paths = [f"{root}/{file.path}" for file in files_at(table, version)]
    if not paths:
        raise MoiraeError(f"{table}: version {version} holds no files; read a later version")
    return ds.dataset(paths, filesystem=system, format="parquet").to_table(columns=columns, use_threads=False)


def _open(table: str) -> tuple[fs.FileSystem, str]:
    system, path = fs.FileSystem.from_uri(table)
    return system, path.rstrip("/")


def _versions(system: fs.FileSystem, root: str) -> list[int]:
    log = system.get_file_info(fs.FileSelector(f"{root}/_delta_log", allow_not_found=True))
    names = [info.base_name for info in log]
    return [int(name[:20]) for name in names if name.endswith(".json") and name[:20].isdigit()]


def _checkpoint(system: fs.FileSystem, root: str, version: int) -> tuple[int, dict[str, tuple[int, int]]]:
    """The newest classic checkpoint not above the version, and (time, size) of its files; (-1, {}) if none."""
    log = system.get_file_info(fs.FileSelector(f"{root}/_delta_log", allow_not_found=True))
    names = [info.base_name for info in log if info.base_name.endswith(".checkpoint.parquet")]
    numbers = [int(name[:20]) for name in names if name.count(".") == 2 and int(name[:20]) <= version]
    if not numbers:
        return -1, {}
    newest = max(numbers)
    names = ["add.path", "add.modificationTime", "add.size"]
    path = f"{root}/_delta_log/{newest:020d}.checkpoint.parquet"
    adds = pq.read_table(path, columns=names, filesystem=system)["add"].combine_chunks()
    live = adds.filter(adds.field("path").is_valid())
    paths, *facts = (live.field(name.removeprefix("add.")).to_pylist() for name in names)
    return newest, dict(zip(paths, zip(*facts, strict=True), strict=True))


def _actions(system: fs.FileSystem, path: str, table: str, version: int) -> list[dict[str, Any]]:
    """The actions of a commit, one a line; the texts in them may hold other ends of lines."""
    try:
        with system.open_input_stream(path) as file:
            return [json.loads(line) for line in file.read().split(b"\n") if line]
    except FileNotFoundError:
        problem = f"{table}: version {version} needs the commit {path.rsplit('/', 1)[-1]}, which is not there"
        raise MoiraeError(f"{problem}; the table is damaged or its log has expired") from None
