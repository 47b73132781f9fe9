"""`moirae quarantine`: the lines that were refused with their reasons, and another try for them."""

from __future__ import annotations

import json as json_text
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moirae.cli.output import Json, Yes, confirm, count, note, print_json, say, shorten, show, visible
from moirae.cli.refused import REPLAY, Refused, Wanted, local_root, refused, replays
from moirae.cli.session import Session, session_of
from moirae.cli.tables import Column, grid
from moirae.errors import MoiraeError

if TYPE_CHECKING:
    from moirae.cli.replaying import Plan, Replay
    from moirae.config import Config
    from moirae.ports.catalog import Catalog

COLUMNS = (
    Column("stream"),
    Column("file", text=True),
    Column("line", right=True),
    Column("reason", text=True),
    Column("text", text=True, spare=1),
    Column("replayed", spare=2),
)
_TEXT_SHOWN = 60
_LIMIT, _MOST = 50, 1_000_000
Stream = Annotated[str | None, typer.Option(metavar="NAME", help="Only this stream.")]
Limit = Annotated[int, typer.Option(min=1, max=_MOST, metavar="N", help="Lines to show at most.")]

group = typer.Typer(help="List lines that were refused, and replay them.", epilog="Example: moirae quarantine list")


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="quarantine")


@group.callback(invoke_without_command=True, epilog="Example: moirae quarantine --stream traffic")
def quarantine(context: typer.Context, stream: Stream = None, limit: Limit = _LIMIT, json: Json = False) -> None:
    """List lines that were refused, and replay them. Without a command: list."""
    if context.invoked_subcommand is None:
        list_refused(context, stream, limit, json)
    elif (stream, limit, json) != (None, _LIMIT, False):  # passed over, a replay would take more than was meant
        raise typer.BadParameter(f"write options behind '{context.invoked_subcommand}'", param_hint="quarantine")


@group.command("list", epilog="Example: moirae quarantine list --stream traffic --limit 10")
def list_refused(context: typer.Context, stream: Stream = None, limit: Limit = _LIMIT, json: Json = False) -> None:
    """List refused lines with their reasons.

    Those of landing files come first, in the order they came, then rows that failed a chunk's check.
    """
    session = session_of(context)
    config = session.config()
    wanted = Wanted(stream)
    with session.catalog(config) as catalog:
        every = [record for record in refused(local_root(config.store.place), catalog) if record in wanted]
    shown = list(islice(every, limit))
    if json:
        print_json([record.fields() for record in shown])
    elif shown:
        show(grid(COLUMNS, [_row(record) for record in shown]))
        _sum_up(every, len(shown))
    else:
        say("nothing is quarantined" if stream is None else f"nothing of '{stream}' is quarantined")


def _row(record: Refused) -> tuple[str, ...]:
    text = shorten(visible(record.text), _TEXT_SHOWN)
    file = visible(record.file.rsplit("/", 1)[-1])
    reason, replayed = visible(record.reason), "yes" if record.replayed else ""
    return visible(record.stream), file, str(record.line), reason, text, replayed


def _sum_up(every: list[Refused], shown: int) -> None:
    by_stream = Counter(record.stream for record in every)
    listed = ", ".join(f"{visible(stream)} {number:,}" for stream, number in sorted(by_stream.items()))
    part = "" if shown == len(every) else f", the first {shown:,} shown"
    say(f"{count(len(every), 'line')} refused ({listed}){part}")


@group.command("replay", epilog="Example: moirae quarantine replay --stream traffic --reason 'no stream' --yes")
def replay(
    context: typer.Context,
    stream: Stream = None,
    file: Annotated[str | None, typer.Option(metavar="FILE", help="Only lines of this file, by path or name.")] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Only lines whose reason holds this text.")] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Put refused lines into the landing folder again.

    They come as new files; lines replayed before are left out.
    """
    session = session_of(context)
    config = session.config()
    with session.catalog(config) as catalog:
        plan = _plan(config, catalog, Wanted(stream, file, reason))
        if not json:
            _announce(plan)
        if not plan.replays:
            reasons = "; ".join(sorted(plan.skipped))
            raise MoiraeError(f"quarantine: none of the lines that match can be replayed: {reasons}")
        total = sum(each.count for each in plan.replays)
        confirm(f"Replay {count(total, 'line')} in {count(len(plan.replays), 'file')}?", yes)
        for each in plan.replays:
            _carry_out(each, catalog, session)
    if json:
        print_json({"files": [_fields(each) for each in plan.replays], "skipped": dict(plan.skipped)})
    else:
        say("rows older than their stream's lateness by now go to the late table; `moirae status` counts them")


def _plan(config: Config, catalog: Catalog, wanted: Wanted) -> Plan:
    from moirae.cli.replaying import plan_replay
    from moirae.config.models import local_path

    landing = local_path(config.ingest.landing)
    if landing is None:
        raise MoiraeError(
            f"{config.ingest.landing}: expected a landing folder on this machine, but found a bucket; copy them there"
        )
    chosen = [record for record in refused(local_root(config.store.place), catalog) if record in wanted]
    if not chosen:
        raise MoiraeError("quarantine: expected lines to replay, but none match; `moirae quarantine list` shows all")
    fresh = [record for record in chosen if not record.replayed]
    if not fresh:
        raise MoiraeError(_replayed_before(chosen, catalog))
    return plan_replay(fresh, landing)


def _replayed_before(chosen: list[Refused], catalog: Catalog) -> str:
    def took_some(fields: dict[str, Any]) -> bool:
        return any(record.line in fields.get("lines", {}).get(record.file, ()) for record in chosen)

    done = (json_text.loads(run.fields) for run in replays(catalog))
    last = next(str(fields["file"]) for fields in done if took_some(fields))
    return (
        f"quarantine: expected lines not replayed yet, but all {len(chosen):,} that match were, last as {last}; "
        "if that failed again, its lines are in the quarantine under that file's name: replay those"
    )


def _announce(plan: Plan) -> None:
    for each in plan.replays:
        say(visible(f"{count(each.count, 'line')} of {each.stream} → {each.path}"))
    for why, number in sorted(plan.skipped.items()):
        note(f"{count(number, 'line')} left out: {why}")


def _carry_out(each: Replay, catalog: Catalog, session: Session) -> None:
    """A crash after the file is there and before it is remembered leaves a file that is recognised by its name."""
    from moirae.cli.replaying import write_replay

    known = each.path.exists()
    run = catalog.start_run(REPLAY, each.stream, json_text.dumps(_fields(each)), session.clock())
    if not known:
        write_replay(each)
    lines = {file: list(numbers) for file, numbers in each.lines.items()}
    catalog.finish_run(run, "done", json_text.dumps({"lines": lines}), session.clock())
    if known:
        raise MoiraeError(f"{each.path}: these lines were replayed before; `moirae quarantine` shows them as such now")


def _fields(each: Replay) -> dict[str, object]:
    return {"stream": each.stream, "file": str(each.path), "digest": each.digest, "count": each.count}
