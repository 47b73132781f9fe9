"""`moirae events` and `moirae event`: what was found, and what history says about it."""

from __future__ import annotations

import json as json_text
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, console, grid, print_json, print_json_line, say, show, visible
from moirae.cli.session import Session, session_of
from moirae.cli.times import iso, parse_moment, show_time

if TYPE_CHECKING:
    from moirae.cli.answers import Answered
    from moirae.ports.catalog import Catalog, LiveEvent

HEADINGS = ("eid", "at", "query", "columns", "recalled")
EID_SHOWN = 12
_LOOK_EVERY_S = 0.3


def register(app: typer.Typer) -> None:
    app.command("events", epilog="Example: moirae events --query bandwidth_flood --since '2 hours'")(events)
    app.command("event", epilog="Example: moirae event 4f1c22aa90be --follow")(event)


def events(
    context: typer.Context,
    query: Annotated[str | None, typer.Option(help="Only events of this query.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Events to show at most.")] = 20,
    since: Annotated[str | None, typer.Option(help="Earliest time: ISO-8601, or a duration before now.")] = None,
    json: Json = False,
) -> None:
    """List events, newest first."""
    from moirae.cli.answers import Pending, summary

    session = session_of(context)
    earliest = None if since is None else parse_moment(since, session.clock(), "--since")
    with session.catalog() as catalog:
        found = catalog.events(query.lower() if query else None, limit, earliest)
        pending = Pending.of(catalog)
        recalled = {e.eid: summary(catalog.latest_answers(e.eid), pending.of_event(e.eid)) for e in found}
    if json:
        print_json([event_fields(each) | {"recalled": recalled[each.eid]} for each in found])
    elif found:
        show(grid(HEADINGS, [_row(each, recalled[each.eid]) for each in found]))
    else:
        say("no events" if query or since else "no events yet")


def event(
    context: typer.Context,
    eid: Annotated[str, typer.Argument(metavar="EID", help="The event's id, or its beginning.")],
    follow: Annotated[bool, typer.Option("--follow", help="Redraw as the answer is revised, until complete.")] = False,
    json: Json = False,
) -> None:
    """Show an event and what history answers; with --follow, as it is revised."""
    from moirae.cli.answers import asked_of, find_answer

    session = session_of(context)
    with session.catalog() as catalog:
        found, asked = catalog.event(eid), asked_of(catalog)
        if follow:
            answers = _followed(catalog, found, session)
            _print_lines(answers) if json else _draw(answers, session)
            return
        answer = find_answer(catalog, found, asked, session.clock())
    if json:
        print_json(answer.fields())
    else:
        from moirae.cli.drawing import draw_answer

        show(*draw_answer(answer, session.clock()))


def _followed(catalog: Catalog, found: LiveEvent, session: Session) -> Iterator[Answered]:
    """Each look at the answer, the first at once, until no recall is under way."""
    from moirae.cli.answers import asked_of, find_answer

    asked, program = asked_of(catalog), catalog.program_version()
    while True:
        if catalog.program_version() != program:
            asked, program = asked_of(catalog), catalog.program_version()
        answer = find_answer(catalog, found, asked, session.clock())
        yield answer
        if not answer.open:
            return
        time.sleep(_LOOK_EVERY_S)


def _print_lines(answers: Iterator[Answered]) -> None:
    """One line whenever anything was revised."""
    last = None
    for answer in answers:
        fields = answer.fields()
        if fields != last:
            print_json_line(fields)
            last = fields


def _draw(answers: Iterator[Answered], session: Session) -> None:
    from rich.console import Group
    from rich.live import Live

    from moirae.cli.drawing import draw_answer

    with Live(console=console(), auto_refresh=False) as live:
        try:
            for answer in answers:
                live.update(Group(*draw_answer(answer, session.clock())), refresh=True)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


def event_fields(found: LiveEvent) -> dict[str, object]:
    head = {"eid": found.eid, "query": found.query, "version": found.version, "at": iso(found.at)}
    return {**head, "seen_at": iso(found.seen_at), "columns": json_text.loads(found.columns)}


def _row(found: LiveEvent, recalled: str) -> tuple[str, ...]:
    return found.eid[:EID_SHOWN], show_time(found.at), found.query, show_columns(found.columns), recalled


def show_columns(columns: str) -> str:
    """
    >>> show_columns('{"server": "srv-01", "bw": 1234.5678901, "note": null}')
    'server=srv-01 bw=1234.57 note=-'
    """
    return " ".join(f"{name}={show_value(value)}" for name, value in json_text.loads(columns).items())


def show_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else visible(str(value))
