"""The screen of `moirae status`, drawn from its figures alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moirae.cli.chunks import GLYPHS
from moirae.cli.tables import Column, grid
from moirae.cli.times import show_age
from moirae.cli.values import show_pairs

Figures = dict[str, Any]
PROCESSES = (
    Column("process"),
    Column("state"),
    Column("pid", right=True, spare=2),
    Column("restarts", right=True, spare=1),
    Column("says", spare=3),
    Column("last sign", right=True),
    Column("fields", text=True),
)
COUNTS = ("landed", "archived", "late", "quarantined")
STREAMS = (
    Column("stream"),
    Column("newest row", right=True),
    *(Column(name, right=True, spare=int(name == "landed")) for name in COUNTS),
    Column("size", right=True, spare=2),
    Column("chunks", text=True),
)
_GREEN, _DIM, _RED = ("ready", "done", "running"), ("stopped", "last seen"), ("failed", "gone", "killed")
_TELLING = ("backing off", *_RED)  # states whose reason is in a log


def draw_status(figures: Figures) -> Iterator[Any]:
    yield from _platform(figures)
    if figures["processes"]:
        yield from ("", grid(PROCESSES, [_process(each) for each in figures["processes"]]))
    yield from (f"see {each['log']}" for each in figures["processes"] if each["state"] in _TELLING and each["log"])
    if figures["streams"]:
        yield from ("", grid(STREAMS, [_stream(each) for each in figures["streams"]]))
        yield from _agreement(figures["streams"])
    else:
        yield "\nno rows yet: deploy a pack, then let files land, or some of `moirae simulate --history 1d`"
    yield f"\n{_batch(figures['last_batch'])}"
    yield _recalls(figures["recalls"])
    yield _events(figures["events"])


def _platform(figures: Figures) -> Iterator[Any]:
    from rich.text import Text

    state = figures["platform"]["state"]
    yield Text.assemble("platform ", (state, _style(state)), f" in {figures['store']}")
    if state in ("never up", "stopped", "killed"):
        yield "start it with `moirae up`"
    for name, address in figures["platform"]["addresses"].items():
        yield f"{name}: {address}"


def _style(state: str) -> str:
    for style, states in (("green", _GREEN), ("dim", _DIM), ("red", _RED)):
        if state in states:
            return style
    return "yellow"


def _process(process: Figures) -> tuple[Any, ...]:
    from rich.text import Text

    state, code = process["state"], process["exit_code"]
    shown = Text(f"{state}, code {code}" if code and state in _TELLING else state, _style(state))
    said = (_text(process["says"]), _age(process["beat_age_s"]), show_pairs(process["fields"]))
    return process["name"], shown, _text(process["pid"]), str(process["restarts"]), *said


def _stream(stream: Figures) -> tuple[Any, ...]:
    from moirae.model.units import show_size

    places = " ".join(f"{place} {stream['chunks'][place]:,}" for place in GLYPHS if place in stream["chunks"])
    counts = [f"{stream[name]:,}" for name in COUNTS]
    return stream["stream"], _ago(stream["behind_s"]), *counts, show_size(stream["bytes"]), places or "-"


def _agreement(streams: list[Figures]) -> Iterator[Any]:
    from rich.text import Text

    wrong = [stream for stream in streams if not stream["reconciled"]]
    yield from (Text(f"rows of {stream['stream']} do not agree: {stream['problem']}", "red") for stream in wrong)
    if not wrong:
        yield Text("all rows that landed are archived, late or quarantined", "green")


def _batch(batch: Figures | None) -> str:
    if batch is None:
        return "last batch: none yet"
    told = "" if batch["rows"] is None else f": {batch['rows']:,} rows, {batch['events']:,} events, {batch['took_s']} s"
    return f"last batch: {batch['batch']}, {_ago(batch['lag_s'])}{told}"


def _recalls(counts: dict[str, int]) -> str:
    pending = counts["pending"] + counts["running"]
    rest = ", ".join(f"{state} {counts[state]:,}" for state in ("complete", "cancelled", "failed") if counts[state])
    return f"recalls: {pending:,} pending" + (f", {rest}" if rest else "")


def _events(counts: dict[str, int]) -> str:
    listed = ", ".join(f"{query} {number:,}" for query, number in counts.items())
    return f"live events: {listed or 'none yet'}"


def _text(value: object) -> str:
    return "-" if value is None else str(value)


def _age(seconds: float | None) -> str:
    return show_age(None if seconds is None else round(seconds * 1e6))


def _ago(seconds: float | None) -> str:
    """Simulated rows may lie ahead of the clock."""
    return f"{_age(seconds)} ago" if seconds is not None and seconds >= 0 else _age(seconds)
