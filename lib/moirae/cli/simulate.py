"""`moirae simulate`: a seeded data centre writes into the landing folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, note, print_json, say
from moirae.cli.session import session_of
from moirae.errors import MoiraeError

if TYPE_CHECKING:
    from moirae.simulator import Spec, Written


def register(app: typer.Typer) -> None:
    app.command("simulate", epilog="Example: moirae simulate --history 30d   then: moirae simulate --live --speed 60")(
        simulate
    )


def simulate(
    context: typer.Context,
    history: Annotated[str | None, typer.Option(help="Fill this much of the past, up to now.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Pace the present.")] = False,
    speed: Annotated[float, typer.Option(help="Simulated seconds a second, with --live.")] = 1.0,
    stretch: Annotated[str, typer.Option("--for", help="Simulated time to pace, with --live.")] = "1 hour",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 7,
    servers: Annotated[int, typer.Option(help="Servers of the data centre.")] = 40,
    out: Annotated[Path | None, typer.Option(help="Landing folder. Default: the platform's.")] = None,
    json: Json = False,
) -> None:
    """Write the rows of a simulated data centre, with incidents, late and malformed rows, and a truth file."""
    from moirae.model.units import parse_duration
    from moirae.simulator import LivePacer, Spec, write_history

    session = session_of(context)
    folder = out or Path(session.config().ingest.landing)
    if (history is None) == (not live):
        raise typer.BadParameter("choose one: --history 30d, or --live", param_hint="--history / --live")
    now = session.clock() // 60_000_000 * 60_000_000
    span = parse_duration(stretch if live else history or "")
    spec: Spec
    if live:
        start = max(_end_of_history(folder) or 0, now - span)
        spec = Spec(seed=seed, servers=servers, start_us=start, end_us=start + span)
        written = LivePacer(spec=spec, folder=folder, speed=speed).run()
    else:
        if any(folder.glob("*/*")):
            problem = f"{folder}: expected an empty landing folder, but found files in it"
            raise MoiraeError(f"{problem}; name another with --out, or remove them")
        spec = Spec(seed=seed, servers=servers, start_us=now - span, end_us=now)
        written = write_history(spec, folder, progress=lambda done, total: None)
    _report(written, folder, json)


def _end_of_history(folder: Path) -> int | None:
    import json

    truth = folder.parent / "truth.json"
    if not truth.is_file():
        return None
    return int(json.loads(truth.read_text(encoding="utf-8"))["spec"]["end_us"])


def _report(written: Written, folder: Path, json: bool) -> None:
    counts = {name: {"files": c.files, "lines": c.lines, "late": c.late} for name, c in written.streams.items()}
    if json:
        print_json({"landing": str(folder), "truth": str(written.truth), "streams": counts})
        return
    for name, each in counts.items():
        say(f"{name:<11} {each['lines']:>9,} lines in {each['files']} files, {each['late']} of them late")
    note(f"written to {folder}; the truth is in {written.truth}")
