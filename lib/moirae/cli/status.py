"""`moirae status`: every process, how far detection is, what became of every row, what is still being asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from moirae.cli.output import Json, print_json, show
from moirae.cli.session import session_of

if TYPE_CHECKING:
    from moirae.adapters.platform import PlatformState
    from moirae.config import Config


def register(app: typer.Typer) -> None:
    app.command("status", epilog="Example: moirae status --json")(status)


def status(context: typer.Context, json: Json = False) -> None:
    """Show processes, lag, rows, chunks, recalls and events.

    For every process its state and last sign of life; for every stream how far it is, what became of its rows and its
    chunks by tier; the last batch; the recalls that are pending; where to look further.
    """
    from moirae.cli.figures import figures_of
    from moirae.cli.overview import draw_status

    session = session_of(context)
    config = session.config()
    platform = platform_of(config)
    with session.catalog(config) as catalog:
        figures = figures_of(catalog, platform, config.store.place, session.clock())
    if json:
        print_json(figures)
    else:
        show(*draw_status(figures))


def platform_of(config: Config) -> PlatformState | None:
    """The supervisor's state; none where it never ran, or where the processes are not ours to supervise."""
    from moirae.adapters.platform import read_state

    return read_state(config.store.path) if config.store.local else None
