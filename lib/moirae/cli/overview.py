"""The screen of `moirae status`, drawn from its figures alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from moirae.cli.chunks import GLYPHS
from moirae.cli.output import grid
from moirae.cli.times import show_age

Figures = dict[str, Any]
_GOOD = ("ready", "done", "running")


def draw_status(figures: Figures) -> Iterator[Any]:
    yield _headline(figures)
    if figures["processes"]:
        headings = ("process", "state", "pid", "restarts", "says", "last sign", "fields")
        yield grid(headings, [_process(each) for each in figures["processes"]], right=["pid", "restarts"])
    yield _batch(figures["last_batch"])
    if figures["streams"]:
        figure_names = ("landed", "archived", "late", "quarantined", "size")
        of_stream = ("stream", "newest row", *figure_names, "chunks", "rows agree")
        yield grid(of_stream, [_stream(each) for each in figures["streams"]], right=figure_names)
    yield _recalls(figures["recalls"])
    yield _events(figures["events"])
    for name, address in figures["platform"]["addresses"].items():
        yield f"{name}: {address}"


def _headline(figures: Figures) -> Any:
    from rich.text import Text

    state = figures["platform"]["state"]
    style = "green" if state in _GOOD else "yellow" if state in ("starting", "stopping") else "red"
    return Text.assemble("platform ", (state, style), f" in {figures['store']}")


def _process(process: Figures) -> tuple[Any, ...]:
    from rich.text import Text

    state = Text(process["state"], "green" if process["state"] in _GOOD else "red")
    fields = " ".join(f"{name}={json.dumps(value)}" for name, value in process["fields"].items())
    said = _age(process["beat_age_s"])
    return process["name"], state, _text(process["pid"]), str(process["restarts"]), _text(process["says"]), said, fields


def _batch(batch: Figures | None) -> str:
    if batch is None:
        return "last batch: none yet"
    told = "" if batch["rows"] is None else f": {batch['rows']:,} rows, {batch['events']:,} events, {batch['took_s']} s"
    return f"last batch: {batch['batch']}, {_age(batch['lag_s'])} ago{told}"


def _stream(stream: Figures) -> tuple[Any, ...]:
    from rich.text import Text

    from moirae.model.units import show_size

    counts = [f"{stream[name]:,}" for name in ("landed", "archived", "late", "quarantined")]
    places = " ".join(f"{place} {stream['chunks'][place]}" for place in GLYPHS if place in stream["chunks"])
    agree = Text("yes", "green") if stream["reconciled"] else Text(stream["problem"], "red")
    behind = "-" if stream["behind_s"] is None else _ago(stream["behind_s"])
    return stream["stream"], behind, *counts, show_size(stream["bytes"]), places or "-", agree


def _recalls(counts: dict[str, int]) -> str:
    pending = counts["pending"] + counts["running"]
    rest = ", ".join(f"{state} {counts[state]:,}" for state in ("complete", "cancelled", "failed") if counts[state])
    return f"recalls: {pending:,} pending" + (f", {rest}" if rest else "")


def _events(counts: dict[str, int]) -> str:
    listed = ", ".join(f"{query} {number:,}" for query, number in counts.items())
    return f"live events: {listed or 'none'}"


def _text(value: object) -> str:
    return "-" if value is None else str(value)


def _age(seconds: float | None) -> str:
    return show_age(None if seconds is None else round(seconds * 1e6))


def _ago(seconds: float) -> str:
    """Simulated rows may lie ahead of the clock."""
    return f"{_age(seconds)} ago" if seconds >= 0 else _age(seconds)
