"""`moirae run`: a pack over files, with no platform."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import count, note, say, show, visible
from moirae.cli.packs import PackFile
from moirae.cli.tables import Column, grid
from moirae.cli.times import parse_span
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
    pack: PackFile,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=FILE", help="A stream's rows. Repeatable.")
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="NAME", help="Only this query's output.")] = None,
    engine: Annotated[Engine, typer.Option(help="Who runs it; the answers are the same.")] = Engine.PROCESS,
    chunk: Annotated[str, typer.Option(metavar="DURATION", help="Event time a chunk of history holds.")] = "1 day",
    format_: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object a row; short for --format json.")] = False,
) -> None:
    """Run a pack over files and print what it finds."""
    from moirae.api import run
    from moirae.cli.deploying import read_pack

    given = _inputs(inputs or [])
    parse_span(chunk, "--chunk")
    wanted = query.lower() if query else None
    tables = run(read_pack(pack), given, engine=engine.value, chunk=chunk, query=wanted, where=str(pack), warn=_warn)
    printed = {Format.TABLE: _print_table, Format.CSV: _print_csv, Format.JSON: _print_json}
    chosen = Format.JSON if json else format_
    if chosen is Format.JSON and len(tables) > 1:
        _refuse_own_label(tables)
    for name, table in tables.items():
        printed[chosen](name, table, len(tables) == 1)


def _warn(line: str) -> None:
    note(visible(line), style="yellow")


def _inputs(written: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for each in written:
        name, equals, path = each.partition("=")
        if not equals or not name or not path:
            raise typer.BadParameter(f"'{each}' names no input; write stream=file", param_hint="--input")
        key = name.strip().lower()
        if key in given:
            raise typer.BadParameter(f"'{key}' is given twice; put its rows into one file", param_hint="--input")
        given[key] = path
    return given


def _refuse_own_label(tables: Mapping[str, pa.Table]) -> None:
    """Rows of several queries say whose they are, and an object has no place for the name twice."""
    for name in (name for name, table in tables.items() if "query" in table.column_names):
        problem = f"query '{name}': expected no column 'query' beside the one that tells whose a row is, but found one"
        raise MoiraeError(f"{problem}; rename it, or print this query alone with --query {name}")


def _print_json(name: str, table: pa.Table, alone: bool) -> None:
    from moirae.model.json_text import json_objects

    rows = table if alone else table.add_column(0, "query", [[name] * table.num_rows])
    sys.stdout.writelines(f"{line}\n" for line in json_objects(rows).to_pylist())


def _print_csv(name: str, table: pa.Table, alone: bool) -> None:
    """Several tables one after the other, each under its own header."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*([] if alone else ["query"]), *table.column_names])
    writer.writerows([*([] if alone else [name]), *row] for row in _rows(table))


def _print_table(name: str, table: pa.Table, alone: bool) -> None:
    say(f"{name}: {count(table.num_rows, 'row')}" if table.num_rows else f"{name} found nothing", style="bold")
    if table.num_rows:
        import pyarrow as pa

        columns = [Column(field.name, text=pa.types.is_string(field.type)) for field in table.schema]
        show(grid(columns, [[visible(cell) for cell in row] for row in _rows(table)]))
    if not alone:
        say("")


def _rows(table: pa.Table) -> Iterator[tuple[str, ...]]:
    """Each cell as text, nothing for null."""
    import pyarrow as pa

    from moirae.model.json_text import iso_times

    texts = [
        iso_times(column.combine_chunks()) if pa.types.is_timestamp(column.type) else column.cast("string")
        for column in table.columns
    ]
    return zip(*(text.fill_null("").to_pylist() for text in texts), strict=True)
