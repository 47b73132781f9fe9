"""An event and its answers on a screen: figures, and for each recall a bar of the interval it asks for.

The bar runs from the oldest moment asked for to the event. `█` is covered, `░` still to come, `·` lies before the
archive's first row, where nothing can be answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from moirae.cli.events import show_value
from moirae.cli.output import grid
from moirae.cli.times import show_age, show_time

if TYPE_CHECKING:
    from moirae.cli.answers import Answered, Recalled

CELLS = 32
_STYLES = {"complete": "green", "asking": "yellow", "waiting": "yellow", "stopped": "red"}
_MOST_ROWS = 20


def draw_answer(answer: Answered, now: int) -> Iterator[Any]:
    from rich.text import Text

    event = answer.event
    columns = {"eid": event.eid, "query": f"{event.query} v{event.version}", "at": show_time(event.at)}
    values = {name: show_value(value) for name, value in json.loads(event.columns).items()}
    yield grid(("event", ""), [*columns.items(), *values.items()])
    for recall in answer.recalls:
        yield _headline(recall, now)
        if line := bar(recall, event.at):
            yield Text(line, no_wrap=True)
        yield from _rows(recall)
    if not answer.recalls:
        yield Text("no recall is deployed for this event", style="dim")


def _headline(recall: Recalled, now: int) -> Any:
    from rich.text import Text

    done = f"{recall.chunks_done} chunk{'' if recall.chunks_done == 1 else 's'} done"
    age = "" if recall.made_at is None else f", revision {recall.revision}, {show_age(now - recall.made_at)} ago"
    head = Text(f"{recall.recall} v{recall.version}  ", style="bold")
    return head + Text(recall.state, style=_STYLES[recall.state]) + Text(f"  {done}{age}", style="not bold")


def bar(recall: Recalled, at: int) -> str:
    """
    >>> from moirae.cli.answers import Recalled
    >>> bar(Recalled("r", 1, "asking", asked_from=0, archive_from=25, covered_from=50, share=0.6667), 100)[:38]
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
    share = "  ? %" if recall.share is None and recall.covered_from else f"  {100 * (recall.share or 0):.0f} %"
    since = "" if recall.covered_from is None else f"  covers {show_time(recall.covered_from)} to {show_time(at)}"
    return drawn + share + since


def _rows(recall: Recalled) -> Iterator[Any]:
    from rich.text import Text

    if recall.rows:
        names = tuple(recall.rows[0])
        yield grid(names, [[show_value(row.get(name)) for name in names] for row in recall.rows[:_MOST_ROWS]])
    elif recall.revision:
        yield Text("  no rows")
    if len(recall.rows) > _MOST_ROWS:
        yield Text(f"  and {len(recall.rows) - _MOST_ROWS} rows more; --json shows all", style="dim")
    if recall.held_back:
        yield Text(f"  without the chunks held back: {', '.join(recall.held_back)}", style="red")
