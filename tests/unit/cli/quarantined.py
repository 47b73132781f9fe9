"""Refused lines as detection and the lifecycle leave them: landing files, and Delta tables that say what and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from moirae.adapters.batch.tables import QUARANTINE
from moirae.adapters.delta import commit_files, write_file

GOOD = '{"at": "2026-07-06T10:00:00Z", "server": "srv-01", "bytes": 1}'
NO_STREAM = "no stream reads from 'billing' (streams read from: traffic); deploy one and replay"


@dataclass(frozen=True)
class Line:
    """`file` is below the landing folder."""

    file: str
    number: int
    text: str
    reason: str
    stream: str = "traffic"


JSONL = "traffic/a.jsonl"
CSV = "traffic/b.csv"
UNKNOWN = "billing/c.jsonl"
LINES = (
    Line(JSONL, 2, "broken", "not a JSON object"),
    Line(JSONL, 4, '{"at": "soon"}', "at: not a time"),
    Line(CSV, 4, "soon,srv-01,2", "at: not a time"),
)
WHOLE = Line(UNKNOWN, 0, "", NO_STREAM, "billing")
FAILED = Line("traffic/d.jsonl", 7, '{"bytes": -1}', "bytes >= 0")


def refuse(store: Path) -> None:
    """Three lines of two files, a file of no stream, and a row that a sealed chunk was checked for."""
    land(store, JSONL, f'{GOOD}\nbroken\n{GOOD}\n{{"at": "soon"}}\n')
    land(store, CSV, "\nat,server,bytes\n2026-07-06T10:00:00Z,srv-01,1\nsoon,srv-01,2\n")
    land(store, UNKNOWN, '{"invoice": 1}\n{"invoice": 2}\n')
    quarantine(store, *LINES)
    quarantine(store, WHOLE, batch_id=1)
    write(f"{store}/rejected/traffic/000003", store, [FAILED], -1)


def land(store: Path, file: str, content: str) -> Path:
    path = store / "landing" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def quarantine(store: Path, *lines: Line, batch_id: int = 0) -> None:
    write(f"{store}/quarantine", store, lines, batch_id)


def write(table: str, store: Path, lines: tuple[Line, ...] | list[Line], batch_id: int) -> None:
    rows = [
        {"stream": line.stream, "file": f"{store}/landing/{line.file}", "line": line.number}
        | {"text": line.text, "reason": line.reason, "batch_id": batch_id}
        for line in lines
    ]
    file = write_file(table, pa.Table.from_pylist(rows, schema=QUARANTINE))
    commit_files(table, QUARANTINE, [file], "tests", batch_id)
