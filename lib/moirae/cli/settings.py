"""`moirae config`: what is in force, and where each value came from."""

from __future__ import annotations

import sys

import typer

from moirae.cli.output import Json, grid, show
from moirae.cli.session import session_of


def register(app: typer.Typer) -> None:
    app.command("config", epilog="Example: moirae config --json")(show_config)


def show_config(context: typer.Context, json: Json = False) -> None:
    """Show every setting, its value and where it came from. Secrets appear as references."""
    from moirae.config.show import HEADINGS, table_rows, to_json

    config = session_of(context).config()
    if json:
        sys.stdout.write(to_json(config) + "\n")
    else:
        show(grid(HEADINGS, table_rows(config)))
