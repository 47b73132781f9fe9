"""`moirae deploy`, `undeploy`, `queries`: what the platform runs. All of a pack is deployed, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, Yes, confirm, count, print_json, say, show
from moirae.cli.session import session_of
from moirae.cli.tables import Column, grid
from moirae.cli.times import iso, show_time

if TYPE_CHECKING:
    from moirae.cli.deploying import Change
    from moirae.ports.catalog import Deployed

PackFile = Annotated[Path, typer.Argument(metavar="PACK", help="A file of statements.")]
CHANGES = (Column("change"), Column("kind"), Column("name"), Column("version"), Column("effect", text=True))
DEPLOYED = (
    Column("kind"),
    Column("name"),
    Column("version"),
    Column("reads", text=True),
    Column("deployed (UTC)"),
    Column("events", right=True),
)
_STYLES = {"created": "green", "changed": "yellow", "unchanged": "dim"}


def register(app: typer.Typer) -> None:
    app.command("deploy", epilog="Example: moirae deploy config/queries/datacentre.sql --yes")(deploy)
    app.command("undeploy", epilog="Example: moirae undeploy usual_bandwidth")(undeploy)
    app.command("queries", epilog="Example: moirae queries --json")(queries)


def deploy(
    context: typer.Context,
    pack: PackFile,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    json: Json = False,
) -> None:
    """Deploy a pack: show what it would change, ask, do it.

    All of it is deployed, or nothing if anything is wrong.
    """
    from moirae.cli.deploying import plan_deploy, plan_with, read_pack
    from moirae.cli.session import catalog_file

    session = session_of(context)
    config = session.config()
    fresh = (file := catalog_file(config)) is not None and not file.exists()
    text = read_pack(pack)
    if fresh:
        changes = plan_deploy(text, str(pack), [])  # a pack that is wrong leaves no empty catalog behind
    else:
        with session.catalog(config) as catalog:
            changes = plan_with(text, str(pack), catalog)
    _show_plan(changes, json)
    if dry_run or all(change.what == "unchanged" for change in changes):
        return
    confirm(f"Deploy {count(sum(c.what != 'unchanged' for c in changes), 'statement')}?", yes)
    with session.catalog(config, create=True) as catalog:
        again = plan_with(text, str(pack), catalog)  # somebody else may have deployed meanwhile
        catalog.deploy([change.new for change in again], session.clock())
    if not json:
        say(f"deployed {pack}")


def _show_plan(changes: Sequence[Change], json: bool) -> None:
    if json:
        fields = [{"kind": c.new.kind, "name": c.new.name, "change": c.what, "version": c.version} for c in changes]
        print_json(fields)
        return
    from rich.text import Text

    rows = [(Text(c.what, _STYLES[c.what]), c.new.kind, c.new.name, f"v{c.version}", c.effect) for c in changes]
    show(grid(CHANGES, rows))
    if all(change.what == "unchanged" for change in changes):
        say("nothing to deploy: all of it is deployed already")


def undeploy(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A deployed statement.")],
    json: Json = False,
) -> None:
    """Take a statement out of service. What it found and archived stays."""
    session = session_of(context)
    with session.catalog() as catalog:
        gone = catalog.undeploy(name.lower(), session.clock())
    if json:
        print_json({"kind": gone.kind, "name": gone.name, "version": gone.version})
    else:
        say(f"undeployed {gone.kind} '{gone.name}' v{gone.version}")


def queries(context: typer.Context, json: Json = False) -> None:
    """List what is deployed, each after what it reads."""
    with session_of(context).catalog() as catalog:
        active, found = catalog.active(), catalog.event_count()
    if json:
        print_json([statement_fields(each, found.get(each.name)) for each in active])
    elif active:
        rows = [_row(each, found.get(each.name)) for each in active]
        show(grid(DEPLOYED, rows))
    else:
        say("nothing is deployed; deploy a pack with `moirae deploy PACK`")


def statement_fields(statement: Deployed, events: int | None) -> dict[str, object]:
    live = {"live_events": events or 0} if statement.kind == "event" else {}
    return {
        **{name: getattr(statement, name) for name in ("kind", "name", "version", "text", "fingerprint")},
        "reads": list(statement.reads),
        "deployed_at": iso(statement.deployed_at),
        **live,
    }


def _row(statement: Deployed, events: int | None) -> tuple[str, ...]:
    seen = f"{events or 0:,}" if statement.kind == "event" else ""
    reads, since = ", ".join(statement.reads), show_time(statement.deployed_at)
    return statement.kind, statement.name, f"v{statement.version}", reads, since, seen
