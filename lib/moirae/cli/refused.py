"""Lines that were refused, as they lie in the store: the quarantine of landing files, and rows that failed a check.

Read straight from the Delta tables, without Spark. A record is known by its file and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from moirae.errors import MoiraeError

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, Run

REPLAY = "replay"
LANDING, CHECK = "landing", "check"
_COLUMNS = ["stream", "file", "line", "text", "reason"]
_ALL_RUNS = 1_000_000


@dataclass(frozen=True, slots=True)
class Refused:
    """`source` is where it was refused: on landing, or by the check of a sealed chunk. Line 0 is a file as a whole."""

    stream: str
    file: str
    line: int
    text: str
    reason: str
    source: str = LANDING
    replayed: bool = False

    def fields(self) -> dict[str, object]:
        names = ("stream", "file", "line", "reason", "text", "source", "replayed")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are meant; nothing set means all."""

    stream: str | None = None
    file: str | None = None
    reason: str | None = None

    def __contains__(self, record: Refused) -> bool:
        return (
            (self.stream is None or record.stream == self.stream.lower())
            and (self.file is None or record.file == self.file or record.file.endswith(f"/{self.file}"))
            and (self.reason is None or self.reason.lower() in record.reason.lower())
        )


def refused(root: str, catalog: Catalog) -> Iterator[Refused]:
    """All records: those of landing files in the order they came, then those of checks, chunk by chunk."""
    done = replayed_lines(catalog)
    for table, source in _tables(root):
        from moirae.adapters.delta import read_table

        rows = read_table(table, columns=_COLUMNS)
        for stream, file, line, text, reason in zip(*(rows[name].to_pylist() for name in _COLUMNS), strict=True):
            again = source == LANDING and line in done.get(file, ())
            yield Refused(stream, file, line, text, reason, source, again)


def _tables(root: str) -> Iterator[tuple[str, str]]:
    from moirae.adapters.delta import latest_version

    if latest_version(f"{root}/quarantine") is not None:
        yield f"{root}/quarantine", LANDING
    folder = Path(root) / "rejected"
    for log in sorted(folder.glob("*/*/_delta_log")) if folder.is_dir() else ():
        yield str(log.parent), CHECK


def replays(catalog: Catalog) -> list[Run]:
    """Replays that came to their end, newest first."""
    return [run for run in catalog.runs(_ALL_RUNS) if run.kind == REPLAY and run.status == "done"]


def replayed_lines(catalog: Catalog) -> dict[str, set[int]]:
    """By file, the lines that were put into the landing folder again."""
    lines: dict[str, set[int]] = {}
    for run in replays(catalog):
        for file, numbers in json.loads(run.fields).get("lines", {}).items():
            lines.setdefault(file, set()).update(numbers)
    return lines


def local_root(place: str) -> str:
    """The store's folder; what lies in a bucket is not read from here."""
    if "://" in place:
        raise MoiraeError(f"{place}: expected a store on this machine, but found a bucket; read its tables with Spark")
    return place
