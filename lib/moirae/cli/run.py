"""`moirae run`: a pack over files, with no platform."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import grid, say, show, visible
from moirae.errors import MoiraeError

if TYPE_CHECKING:
    import pyarrow as pa


class Engine(StrEnum):
    PROCESS = "process"
    BATCH = "batch"
    STREAM = "stream"


class Format(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def register(app: typer.Typer) -> None:
    app.command("run", epilog="Example: moirae run pack.sql --input traffic=traffic.csv --format csv")(run_pack)


def run_pack(
    pack: Annotated[Path, typer.Argument(help="File of statements.")],
    inputs: Annotated[list[str] | None, typer.Option("--input", metavar="NAME=FILE", help="A stream's rows.")] = None,
    query: Annotated[str | None, typer.Option(help="Only this query's output.")] = None,
    engine: Annotated[Engine, typer.Option(help="Who runs it; the answers are the same.")] = Engine.PROCESS,
    chunk: Annotated[str, typer.Option(help="Event time a chunk of history holds.")] = "1 day",
    format_: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
) -> None:
    """Run a pack over files and print what it finds."""
    from moirae.api import run

    given = dict(_input(each) for each in inputs or [])
    text = _text(pack)
    tables = run(text, given, engine=engine.value, chunk=chunk, query=query, where=str(pack))
    for name, table in tables.items():
        _print(name, table, format_, alone=len(tables) == 1)


def _text(pack: Path) -> str:
    try:
        return pack.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MoiraeError(f"{pack}: expected a file of statements, but found: {error}; check the path") from error


def _input(written: str) -> tuple[str, str]:
    name, equals, path = written.partition("=")
    if not equals or not name or not path:
        raise typer.BadParameter(f"'{written}' names no input; write stream=file", param_hint="--input")
    return name.strip().lower(), path


def _print(name: str, table: pa.Table, format_: Format, *, alone: bool) -> None:
    if format_ is Format.JSON:
        from moirae.model.json_text import json_objects

        rows = table if alone else table.add_column(0, "query", [[name] * table.num_rows])
        for line in json_objects(rows).to_pylist():
            sys.stdout.write(line + "\n")
        return
    import pyarrow as pa

    from moirae.model.json_text import iso_times

    texts = [
        iso_times(c.combine_chunks()) if pa.types.is_timestamp(c.type) else c.cast("string") for c in table.columns
    ]
    if format_ is Format.CSV:
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([*([] if alone else ["query"]), *table.column_names])
        for row in zip(*(text.to_pylist() for text in texts), strict=True):
            writer.writerow([*([] if alone else [name]), *("" if cell is None else cell for cell in row)])
        return
    rows = zip(*(["" if cell is None else visible(cell) for cell in text.to_pylist()] for text in texts), strict=True)
    show(grid(table.column_names, list(rows), title=f"{name}: {table.num_rows} rows"))
    if table.num_rows == 0:
        say(f"{name} found nothing")
