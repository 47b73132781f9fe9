"""`moirae event`: one event and what history says about it, once or as the answer is revised."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, console, print_json, print_json_line, show
from moirae.cli.session import Session, session_of

if TYPE_CHECKING:
    from moirae.cli.answers import Answered
    from moirae.ports.catalog import Catalog, LiveEvent

_LOOK_EVERY_S = 0.3


def register(app: typer.Typer) -> None:
    app.command("event", epilog="Example: moirae event 4f1c22aa90be --follow")(event)


def event(
    context: typer.Context,
    eid: Annotated[str, typer.Argument(metavar="EID", help="The event's id, or its beginning.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Redraw as the answer is revised, to its end.")
    ] = False,
    json: Json = False,
) -> None:
    """Show an event and what history answers.

    With --follow, the answer is shown anew whenever it is revised, until every recall has come to its end; with --json
    that is one line a revision.
    """
    session = session_of(context)
    with session.catalog() as catalog:
        looks = _looks(catalog, catalog.event(eid), session)
        if not follow:
            answer = next(looks)
            print_json(answer.fields()) if json else _show(answer, session)
        elif json:
            for answer in _revised(looks):
                print_json_line(answer.fields())
        elif console().is_terminal:
            _redraw(looks, session)
        else:
            for answer in _revised(looks):
                _show(answer, session)


def _looks(catalog: Catalog, found: LiveEvent, session: Session) -> Iterator[Answered]:
    """The answer again and again, the first at once, until no recall is under way."""
    from moirae.cli.answers import find_answer
    from moirae.cli.asking import asked_of

    program, asked = catalog.program_version(), asked_of(catalog)
    while True:
        if (version := catalog.program_version()) != program:
            program, asked = version, asked_of(catalog)
        answer = find_answer(catalog, found, asked, session.clock())
        yield answer
        if not answer.open:
            return
        time.sleep(_LOOK_EVERY_S)


def _revised(looks: Iterator[Answered]) -> Iterator[Answered]:
    """Only those looks that show something new."""
    last = None
    for answer in looks:
        if answer != last:
            yield answer
        last = answer


def _show(answer: Answered, session: Session) -> None:
    from moirae.cli.drawing import draw_answer

    show(*draw_answer(answer, session.clock()))


def _redraw(looks: Iterator[Answered], session: Session) -> None:
    from rich.console import Group
    from rich.live import Live

    from moirae.cli.drawing import draw_answer

    with Live(console=console(), auto_refresh=False) as live:
        for answer in looks:
            live.update(Group(*draw_answer(answer, session.clock())), refresh=True)
