"""An event and its answers on a screen: figures, and for each recall a bar of the interval it asks for.

The bar runs from the oldest moment asked for to the event. `█` is covered, `░` still to come, `·` lies before the
archive's first row, where nothing can be answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from moirae.cli.output import count
from moirae.cli.tables import Column, grid
from moirae.cli.times import show_age, show_exactly, show_time
from moirae.cli.values import show_value

if TYPE_CHECKING:
    from moirae.cli.answers import Answered, Recalled

CELLS = 32
_STYLES = {"complete": "green", "asking": "yellow", "waiting": "yellow", "stopped": "red"}
_MOST_ROWS = 20


def draw_answer(answer: Answered, now: int) -> Iterator[Any]:
    event = answer.event
    head = {"event": event.eid, "query": f"{event.query} v{event.version}", "at": show_exactly(event.at)}
    values = {name: show_value(value) for name, value in json.loads(event.columns).items()}
    width = max(map(len, (*head, *values)))
    for name, value in (*head.items(), *values.items()):
        yield f"{name:<{width}}  {value}"
    for recall in answer.recalls:
        yield ""
        yield from _draw_recall(recall, event.at, now)
    if not answer.recalls:
        yield f"\nno recall asked about this event: deploy one with CREATE RECALL … FOR {event.query}"


def _draw_recall(recall: Recalled, at: int, now: int) -> Iterator[Any]:
    yield _headline(recall, now)
    if line := bar(recall, at):
        yield line
    if recall.covered_from is not None:
        yield f"covers {show_time(recall.covered_from)} to {show_time(at)}"
    yield from _rows(recall)
    if recall.state == "stopped":
        yield "it will not go on: cancelled, failed or undeployed; the log of recall_history tells why"


def _headline(recall: Recalled, now: int) -> Any:
    from rich.text import Text

    done = "" if recall.made_at is None else f"  {count(recall.chunks_done, 'chunk')} done"
    age = "" if recall.made_at is None else f", revision {recall.revision}, {show_age(now - recall.made_at)} ago"
    name = (f"{recall.recall} v{recall.version}", "bold")
    return Text.assemble(name, "  ", (recall.state, _STYLES[recall.state]), done, age)


def bar(recall: Recalled, at: int) -> str:
    """
    >>> from moirae.cli.answers import Recalled
    >>> bar(Recalled("r", 1, "asking", asked_from=0, archive_from=25, covered_from=50, share=0.6667), 100)
    '········░░░░░░░░████████████████  67 %'
    """
    start = recall.asked_from if recall.asked_from is not None else recall.covered_from
    if start is None or start >= at:
        return ""
    archive = start if recall.archive_from is None else min(max(recall.archive_from, start), at)
    covered = at if recall.covered_from is None else min(max(recall.covered_from, start), at)
    if recall.state == "complete":
        archive = max(archive, covered)
    blank, full = (round(CELLS * (moment - start) / (at - start)) for moment in (archive, covered))
    drawn = "·" * min(blank, full) + "░" * max(0, full - blank) + "█" * (CELLS - full)
    share = "? %" if recall.share is None and recall.revision else f"{100 * (recall.share or 0):.0f} %"
    return f"{drawn}  {share}"


def _rows(recall: Recalled) -> Iterator[Any]:
    from rich.text import Text

    if recall.rows:
        names = tuple(recall.rows[0])
        rows = [[show_value(row.get(name)) for name in names] for row in recall.rows[:_MOST_ROWS]]
        yield grid([Column(name, text=True) for name in names], rows)
    elif recall.revision:
        yield "no rows"
    if len(recall.rows) > _MOST_ROWS:
        yield Text(f"and {count(len(recall.rows) - _MOST_ROWS, 'row')} more; --json shows all", style="dim")
    if recall.held_back:
        yield Text(f"without the chunks held back: {', '.join(recall.held_back)}", style="red")
