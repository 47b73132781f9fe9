"""`moirae`: one entry point, one place where errors end.

Whatever a person can mend is told in its own words on standard error with exit code 1; wrong usage is 2. A traceback
means a fault of Moirae. Commands import what is heavy only when they run.
"""

from __future__ import annotations

import errno
import sys
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from moirae.cli import (
    chunks,
    event,
    events,
    explain,
    packs,
    platform,
    quarantine,
    run,
    runs,
    settings,
    simulate,
    status,
)
from moirae.cli.output import note, visible
from moirae.cli.session import Session, parse_settings
from moirae.errors import MoiraeError

GROUPS = (platform, status, run, explain, packs, events, event, chunks, quarantine, simulate, runs, settings)
_AS_MET = "up down status simulate run explain deploy undeploy queries events event chunks quarantine runs config"


class Commands(TyperGroup):
    """All commands, in the order in which a new user meets them, with the boundary around them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=_AS_MET.split().index)

    def invoke(self, ctx: Any) -> Any:
        _encode_anything()
        try:
            return super().invoke(ctx)
        except MoiraeError as error:
            _complain(str(error))
        except OSError as error:
            if error.filename is None or error.errno == errno.EPIPE:
                raise
            found = f"{error.filename}: expected to use it, but found: {error.strerror}"
            _complain(f"{found}; see that it is there and that you may read and write it")
        raise typer.Exit(1)


def _complain(message: str) -> None:
    for line in message.split("\n"):
        note(visible(line), style="red")


def _encode_anything() -> None:
    """Where a terminal or pipe has no UTF-8, signs are spelled out instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help and usage are plain lines, in every terminal and in pipes
    help="Monitoring that remembers: every event answered from history, within seconds.",
    epilog="Example: moirae --config config/embedded.yaml --set airflow.port=8080 up",
)


@app.callback()
def root(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="PATH", help="Configuration file. Default: found from here up.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting. Repeatable.")
    ] = None,
) -> None:
    base = context.obj if isinstance(context.obj, Session) else Session()
    context.obj = replace(base, file=config, overrides=parse_settings(settings or []))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for group in GROUPS:
    group.register(app)
