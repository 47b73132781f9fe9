"""`moirae runs`: what jobs and commands did, newest first."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moirae.cli.output import Json, print_json, say, shorten, show, visible
from moirae.cli.session import session_of
from moirae.cli.tables import Column, grid
from moirae.cli.times import iso, show_age, show_time
from moirae.cli.values import show_columns

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, Run

COLUMNS = (
    Column("run", right=True),
    Column("kind", spare=2),
    Column("name"),
    Column("status"),
    Column("started (UTC)"),
    Column("took", right=True),
    Column("fields", text=True, spare=1),
)
_FIELDS_SHOWN = 120
_ALL = 100_000


def register(app: typer.Typer) -> None:
    app.command("runs", epilog="Example: moirae runs --kind lifecycle --limit 5")(list_runs)


def list_runs(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only runs of this kind, such as lifecycle or replay.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=_ALL, metavar="N", help="Runs to show at most.")] = 20,
    json: Json = False,
) -> None:
    """List the runs of jobs, newest first."""
    session = session_of(context)
    with session.catalog() as catalog:
        looked_at = limit if kind is None else _ALL
        found = [run for run in catalog.runs(looked_at) if kind in (None, run.kind)][:limit]
        nothing = "" if found else _nothing(catalog)
    if json:
        print_json([run_fields(run) for run in found])
    elif found:
        show(grid(COLUMNS, [_row(run, session.clock()) for run in found]))
    else:
        say(nothing)


def _nothing(catalog: Catalog) -> str:
    """Why the list is empty, and what to do about it."""
    kinds = sorted({run.kind for run in catalog.runs(_ALL)})
    if kinds:
        return f"no runs of that kind; there are runs of {', '.join(kinds)}"
    return "no runs yet: Airflow runs the lifecycle on its schedule once the platform is up; see `moirae status`"


def run_fields(run: Run) -> dict[str, object]:
    times = {"started_at": iso(run.started_at), "finished_at": iso(run.finished_at)}
    fields = json_text.loads(run.fields)
    return {"id": run.id, "kind": run.kind, "name": run.name, "status": run.status, **times, "fields": fields}


def _row(run: Run, now: int) -> tuple[Any, ...]:
    """A run that goes on has taken its time so far."""
    from rich.text import Text

    took = (now if run.finished_at is None else run.finished_at) - run.started_at
    status = Text(run.status, style="red" if run.status == "failed" else "")
    fields = shorten(show_columns(run.fields), _FIELDS_SHOWN)
    return str(run.id), run.kind, visible(run.name), status, show_time(run.started_at), show_age(took), fields
