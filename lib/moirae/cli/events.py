"""`moirae events`: what was found, newest first, and how far history has answered."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, print_json, say, show
from moirae.cli.session import session_of
from moirae.cli.tables import Column, grid
from moirae.cli.times import parse_moment, show_time
from moirae.cli.values import event_fields, show_columns

if TYPE_CHECKING:
    from moirae.cli.asking import Progress
    from moirae.ports.catalog import Catalog, LiveEvent

COLUMNS = (Column("eid"), Column("at (UTC)"), Column("query"), Column("columns", text=True), Column("recalled"))
EID_SHOWN = 12
_MOST = 1_000_000


def register(app: typer.Typer) -> None:
    app.command("events", epilog="Example: moirae events --query bandwidth_flood --since '2 hours'")(events)


def events(
    context: typer.Context,
    query: Annotated[str | None, typer.Option(metavar="NAME", help="Only events of this query.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, metavar="N", help="Events to show at most.")] = 20,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Earliest time: ISO-8601, or a duration before now.")
    ] = None,
    json: Json = False,
) -> None:
    """List events, newest first."""
    from moirae.cli.asking import Pending, expected_recalls, progress_of

    session = session_of(context)
    earliest = None if since is None else parse_moment(since, session.clock(), "--since")
    with session.catalog() as catalog:
        found = catalog.events(query.lower() if query else None, limit, earliest)
        pending = Pending.of(catalog)
        active, now = catalog.active(), session.clock()
        recalled = [
            progress_of(each, catalog.latest_answers(each.eid), pending, expected_recalls(active, each), now)
            for each in found
        ]
        nothing = "" if found else _nothing(catalog, query, since)
    if json:
        both = zip(found, recalled, strict=True)
        print_json([event_fields(each) | {"recalled": asdict(progress)} for each, progress in both])
    elif found:
        show(grid(COLUMNS, map(_row, found, recalled)))
    else:
        say(nothing)


def _row(found: LiveEvent, recalled: Progress) -> tuple[str, ...]:
    return found.eid[:EID_SHOWN], show_time(found.at), found.query, show_columns(found.columns), str(recalled)


def _nothing(catalog: Catalog, query: str | None, since: str | None) -> str:
    """Why the list is empty, and what to do about it."""
    counts = catalog.event_count()
    queries = [each.name for each in catalog.active() if each.kind == "event"]
    if not queries and not counts:
        return "no events yet: no query is deployed; deploy a pack with `moirae deploy PACK`"
    if query and query.lower() not in (*queries, *counts):
        return f"no query '{query}' is deployed; there are {', '.join(queries or counts)}"
    if counts and (since or query):
        return "no events match: leave out --since or --query to see more"
    return "no events yet: rows must land first; `moirae status` shows how far detection is"
