"""`moirae simulate`: a seeded data centre writes into the landing folder."""

from __future__ import annotations

import json as json_text
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, note, print_json, say, show
from moirae.cli.progress import progress
from moirae.cli.session import Session, session_of
from moirae.cli.tables import Column, grid
from moirae.cli.times import iso, parse_moment, parse_span
from moirae.errors import MoiraeError

if TYPE_CHECKING:
    from moirae.simulator import Spec, Written

COUNTS = ("lines", "files", "clean", "late", "malformed")
COLUMNS = (Column("stream"), *(Column(name, right=True) for name in COUNTS))
_MINUTE = 60_000_000
_RACKS = 4  # or as many as there are servers


def register(app: typer.Typer) -> None:
    epilog = "Example: moirae simulate --history 30d   then: moirae simulate --live --speed 60 --for 2h"
    app.command("simulate", epilog=epilog)(simulate)


def simulate(
    context: typer.Context,
    history: Annotated[str | None, typer.Option(metavar="DURATION", help="Fill this much of the past.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Pace the present, behind the history if there is one.")] = False,
    speed: Annotated[float, typer.Option(min=0.01, metavar="N", help="Simulated seconds a second, with --live.")] = 1.0,
    stretch: Annotated[
        str, typer.Option("--for", metavar="DURATION", help="Simulated time to pace, with --live.")
    ] = "1 hour",
    until: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="End of the past: ISO-8601, or a duration before now. Default: now."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed and span give the same bytes.")] = 7,
    servers: Annotated[int, typer.Option(min=1, metavar="N", help="Servers of the data centre.")] = 40,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Landing folder. Default: the platform's.")] = None,
    json: Json = False,
) -> None:
    """Write the rows of a simulated data centre.

    With incidents of known causes, late and malformed rows; what is true of them is in a truth file beside the folder.
    """
    from moirae.simulator import Spec

    session = session_of(context)
    if (history is None) == (not live):
        raise typer.BadParameter("choose one: --history 30d, or --live", param_hint="--history / --live")
    folder = out or _landing(session)
    now = session.clock() // _MINUTE * _MINUTE
    centre = partial(Spec, seed=seed, servers=servers, racks=min(servers, _RACKS))
    if history is not None:
        end = now if until is None else parse_moment(until, now, "--until")
        spec = centre(start_us=end - parse_span(history, "--history"), end_us=end)
        written = _history(spec, folder, json)
    else:
        span = parse_span(stretch, "--for")
        start = max(_end_of_history(folder), min(now, now - span + round(span / speed)))  # to end with the present
        spec = centre(start_us=start, end_us=start + span)
        written = _live(spec, folder, speed, json)
    _report(written, spec, folder, json)


def _landing(session: Session) -> Path:
    from moirae.config.models import local_path

    landing = session.config().ingest.landing
    folder = local_path(landing)
    if folder is None:
        raise MoiraeError(
            f"{landing}: expected a landing folder on this machine, but found a bucket; name one with --out"
        )
    return folder


def _history(spec: Spec, folder: Path, quiet: bool) -> Written:
    from moirae.simulator import write_history

    if any(each.is_file() for each in folder.rglob("*")):
        problem = f"{folder}: expected an empty landing folder, but found files in it"
        raise MoiraeError(f"{problem}; name another with --out, or go on behind them with --live")
    with progress("simulating the past", quiet) as tell:
        return write_history(spec, folder, progress=tell)


def _live(spec: Spec, folder: Path, speed: float, quiet: bool) -> Written:
    from moirae.simulator import LivePacer

    with _until_stopped() as stopped, progress("simulating the present", quiet) as tell:
        return LivePacer(spec=spec, folder=folder, speed=speed, progress=tell).run(stopped)


@contextmanager
def _until_stopped() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and a termination end the stretch after its tick, so that the truth file tells what was written."""
    asked: list[int] = []
    kept = {
        each: signal.signal(each, lambda number, _: asked.append(number)) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in kept.items():
            signal.signal(each, handler)


def _end_of_history(folder: Path) -> int:
    """Where the newest truth beside the folder ends; 0 where there is none."""
    truths = (folder.parent / name for name in ("truth.json", "truth-live.json"))
    return max((_end_of(truth) for truth in truths if truth.is_file()), default=0)


def _end_of(truth: Path) -> int:
    try:
        return int(json_text.loads(truth.read_text(encoding="utf-8"))["spec"]["end_us"])
    except (ValueError, KeyError, TypeError):
        raise MoiraeError(f"{truth}: expected a truth file, but found something else; remove it") from None


def _report(written: Written, spec: Spec, folder: Path, json: bool) -> None:
    streams = {
        name: {
            "lines": c.lines,
            "files": c.files,
            "clean": c.clean,
            "late": c.late,
            "malformed": sum(c.malformed.values()),
        }
        for name, c in written.streams.items()
    }
    if json:
        span = {"from": iso(spec.start_us), "to": iso(spec.end_us), "complete": written.complete, "seed": spec.seed}
        print_json({"landing": str(folder), "truth": str(written.truth), **span, "streams": streams})
        return
    show(grid(COLUMNS, [(name, *(f"{each[key]:,}" for key in COUNTS)) for name, each in streams.items()]))
    if not written.complete:
        note("stopped before its end; the truth file says complete: false")
    say(f"written to {folder}; the truth is in {written.truth}")
