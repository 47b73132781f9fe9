"""The summary screen: rows, chunks, events against the truth, one event with its history, times taken."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from moirae.demo.recalled import Recalled
from moirae.demo.verdict import Found, Line
from moirae.ports.catalog import Catalog

_MARK = {True: "[green]✓[/green]", False: "[red]✗[/red]"}


def show_summary(
    console: Console,
    catalog: Catalog,
    rows: Sequence[Line],
    found: Sequence[Found],
    recalled: Recalled | None,
    took: Mapping[str, float],
) -> None:
    console.rule("What happened")
    console.print(_rows(rows))
    console.print(_chunks(catalog))
    console.print(_events(found))
    console.print(_history(recalled))
    console.print(_times(took))


def _rows(lines: Sequence[Line]) -> Table:
    table = Table("", "stream", "rows", title="Rows: every line that landed is accounted for", title_justify="left")
    for line in lines:
        said = line.found if line.right else f"{line.found}; expected {line.expected}"
        table.add_row(_MARK[line.right], line.name, said)
    return table


def _chunks(catalog: Catalog) -> Table:
    tiers = ("present", "recent", "old", "held")
    table = Table("stream", *tiers, "rows", title="Chunks by tier", title_justify="left")
    counts: dict[str, dict[str, int]] = {}
    for chunk in catalog.chunks():
        of = counts.setdefault(chunk.stream, {})
        place = "held" if chunk.state == "held" else chunk.tier
        of[place] = of.get(place, 0) + 1
        of["rows"] = of.get("rows", 0) + chunk.rows
    for stream, of in counts.items():
        table.add_row(stream, *(str(of.get(tier, 0)) for tier in tiers), f"{of['rows']:,}")
    return table


def _events(found: Sequence[Found]) -> Table:
    table = Table("", "incident", "happened", "found", "events", "unexplained", title_justify="left")
    table.title = "Incidents against the truth file"
    for each in found:
        figures = (each.incidents, each.found, each.events, each.unexplained)
        table.add_row(_MARK[each.right], each.kind, *map(str, figures))
    return table


def _history(recalled: Recalled | None) -> Panel:
    if recalled is None:
        return Panel("[red]no event was answered[/red]", title="What history knows")
    event, last = recalled.event, recalled.last
    columns = ", ".join(f"{name} {_short(value)}" for name, value in json.loads(event.columns).items())
    answer = ", ".join(f"{name} {_short(value)}" for name, value in recalled.answer.items())
    first_s = (recalled.first.made_at - event.seen_at) / 1e6
    last_s = (last.made_at - event.seen_at) / 1e6
    lines = [
        f"[bold]{event.query}[/bold] at {_when(event.at)}: {columns}",
        f"history says: {answer}",
        f"covered: {_when(last.covered_from)} to {_when(last.covered_to)}, {last.chunks_done} chunks",
        f"first answer after {first_s:.2f} s, last after {last_s:.2f} s",
        f"{_MARK[recalled.right]} the archive gives mean {_short(recalled.mean)}, spread {_short(recalled.spread)}",
    ]
    return Panel("\n".join(lines), title="What history knows", title_align="left")


def _times(took: Mapping[str, float]) -> Table:
    table = Table("step", "seconds", title=f"Times: {sum(took.values()):.0f} s in all", title_justify="left")
    for name, seconds in took.items():
        table.add_row(name, f"{seconds:.1f}")
    return table


def _when(micros: int | None) -> str:
    return "-" if micros is None else datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _short(value: object) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
