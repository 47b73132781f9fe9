"""`moirae runs`: what jobs and commands did, newest first."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, grid, print_json, say, show, visible
from moirae.cli.session import session_of
from moirae.cli.times import iso, show_age, show_time

if TYPE_CHECKING:
    from moirae.ports.catalog import Run

HEADINGS = ("run", "kind", "name", "status", "started", "took", "fields")
_FIELDS_SHOWN = 120


def register(app: typer.Typer) -> None:
    app.command("runs", epilog="Example: moirae runs --kind lifecycle --limit 5")(list_runs)


def list_runs(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Only runs of this kind, such as lifecycle or replay.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Runs to show at most.")] = 20,
    json: Json = False,
) -> None:
    """List the runs of jobs, newest first."""
    with session_of(context).catalog() as catalog:
        looked_at = limit if kind is None else 100_000
        found = [run for run in catalog.runs(looked_at) if kind in (None, run.kind)][:limit]
    if json:
        print_json([run_fields(run) for run in found])
    elif found:
        show(grid(HEADINGS, [_row(run) for run in found], right=["run", "took"]))
    else:
        say("no runs yet")


def run_fields(run: Run) -> dict[str, object]:
    times = {"started_at": iso(run.started_at), "finished_at": iso(run.finished_at)}
    fields = json_text.loads(run.fields)
    return {"id": run.id, "kind": run.kind, "name": run.name, "status": run.status, **times, "fields": fields}


def _row(run: Run) -> tuple[str, ...]:
    took = None if run.finished_at is None else run.finished_at - run.started_at
    fields = visible(run.fields)
    shown = fields if len(fields) <= _FIELDS_SHOWN else fields[: _FIELDS_SHOWN - 1] + "…"
    return str(run.id), run.kind, run.name, run.status, show_time(run.started_at), show_age(took), shown
