"""`moirae`: one entry point, one place where errors end.

Whatever a person can mend is told in its own words on standard error with exit code 1; wrong usage is 2. A traceback
means a fault of Moirae. Commands import what is heavy only when they run.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from moirae.cli import chunks, events, explain, packs, platform, quarantine, run, runs, settings, simulate, status
from moirae.cli.output import note
from moirae.cli.session import Session, parse_settings
from moirae.errors import MoiraeError


class Commands(TyperGroup):
    """All commands, with the boundary around them."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MoiraeError as error:
            note(str(error), style="red")
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
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


# In the order in which a new user meets them.
for group in (platform, status, run, explain, packs, events, chunks, quarantine, simulate, runs, settings):
    group.register(app)
