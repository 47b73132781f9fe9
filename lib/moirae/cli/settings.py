"""`moirae config`: what is in force, and where each value came from."""

from __future__ import annotations

from dataclasses import asdict

import typer

from moirae.cli.output import Json, print_json, show
from moirae.cli.session import session_of
from moirae.cli.tables import Column, grid

COLUMNS = (
    Column("key"),
    Column("value", text=True),
    Column("source", text=True),
    Column("description", text=True, spare=1),
)


def register(app: typer.Typer) -> None:
    app.command("config", epilog="Example: moirae config --json")(show_config)


def show_config(context: typer.Context, json: Json = False) -> None:
    """Show every setting, its value and its source.

    The source is the default, a line of a file, an environment variable or an option. Secrets appear as references.
    """
    from moirae.config import effective, table_rows

    config = session_of(context).config()
    if json:
        print_json([asdict(setting) for setting in effective(config)])
    else:
        show(grid(COLUMNS, table_rows(config)))
