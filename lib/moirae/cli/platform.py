"""`moirae up` and `moirae down`: the embedded platform of this store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from moirae.cli.output import Json, note, print_json, say
from moirae.cli.session import session_of

if TYPE_CHECKING:
    from moirae.adapters.platform import PlatformState

ROOT = Path(__file__).resolve().parents[3]


def register(app: typer.Typer) -> None:
    app.command("up", epilog="Example: moirae --set store.root=file:./demo up")(up)
    app.command("down", epilog="Example: moirae --set store.root=file:./demo down")(down)


def up(context: typer.Context, json: Json = False) -> None:
    """Start Airflow, detection and recall in the background."""
    from moirae.adapters.platform import start_detached
    from moirae.adapters.platform.airflow import airflow_login
    from moirae.adapters.platform.embedded import embedded_plan

    session = session_of(context)
    config = session.config()
    with session.catalog(config, create=True):
        pass  # one process makes the catalog, the others find it
    state = start_detached(embedded_plan(config, ROOT), _progress())
    if json:
        print_json({"folder": state.folder, "addresses": dict(state.addresses)})
        return
    user, password = airflow_login(config.store.path / "airflow")
    for name, address in state.addresses.items():
        say(f"{name:<8} {address}")
    say(f"Airflow's user is '{user}', the password '{password}'.")
    say("Deploy a pack with `moirae deploy`, look with `moirae status`, stop with `moirae down`.")


def down(context: typer.Context, json: Json = False) -> None:
    """Stop the platform of this store."""
    from moirae.adapters.platform import stop

    folder = session_of(context).config().store.path
    stopped = stop(folder)
    if json:
        print_json({"folder": str(folder), "stopped": stopped})
    else:
        say(f"the platform in {folder} is down" if stopped else f"no platform was running in {folder}")


class _progress:  # noqa: N801 reads as a function where it is used
    """Tells what is still waited for, whenever that changes."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, state: PlatformState) -> None:
        waiting = ", ".join(each.name for each in state.processes if each.state not in ("ready", "done"))
        if waiting and waiting != self._said:
            note(f"waiting for {waiting}")
        self._said = waiting
