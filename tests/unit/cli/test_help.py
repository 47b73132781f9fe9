"""Every command explains itself by an example that can be written as it stands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.calling import Cli
from typer.main import get_command

from moirae.cli.main import app

READ_BY_SCRIPTS = [
    "status",
    "queries",
    "events",
    "event aaaa",
    "chunks",
    "quarantine",
    "quarantine list",
    "runs",
    "config",
    "down",
    "explain PACK",
    "deploy PACK",
    "undeploy usual",
    "simulate --history 1h --servers 4",
]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All that can be called, a group before its commands."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


ALL = list(commands(get_command(app)))


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "moirae")
def test_every_command_has_a_description_and_an_example_that_calls_it(bare: Cli, path: tuple[str, ...]) -> None:
    """P6: help names the command and only options there are; it needs no configuration and no store."""
    result = bare(*path, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    usage, _, description, *rest = (line.strip() for line in result.stdout.splitlines())
    assert usage.startswith("Usage: ")
    assert description.endswith(".")
    assert len(description) > len("List.")
    examples = [line.removeprefix("Example: ") for line in rest if line.startswith("Example: ")]
    assert len(examples) == 1
    words = shlex.split(examples[0])
    assert words[0] == "moirae"
    assert " ".join(path) in examples[0]
    told = {"--config", "--set"} | {
        word.rstrip(",") for line in rest for word in line.split()[:2] if line.startswith("-")
    }
    assert {word for word in words if word.startswith("--")} <= told
    assert not bare.store.exists()


def test_the_list_of_commands_is_in_the_order_a_new_user_meets_them(bare: Cli) -> None:
    """P6: nothing is left out, and `moirae` alone is help, not a mistake."""
    alone = bare()
    assert alone.exit_code == 0
    assert alone.stdout == bare("--help").stdout
    listed = [line.split()[0] for line in alone.stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    assert listed[:3] == ["up", "down", "status"]
    assert listed.index("deploy") < listed.index("events") < listed.index("event")
    assert sorted(listed) == sorted(path[0] for path in ALL if len(path) == 1)


@pytest.mark.parametrize("written", READ_BY_SCRIPTS)
def test_every_command_that_scripts_read_prints_nothing_but_json(cli: Cli, pack: Path, written: str) -> None:
    """P6: one JSON document on standard output; nobody is asked anything, nothing else is said."""
    found = cli.json(*written.replace("PACK", str(pack)).split())
    assert isinstance(found, dict | list)
    assert found or written.startswith("quarantine")


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "moirae")
def test_only_the_root_has_no_json(bare: Cli, path: tuple[str, ...]) -> None:
    """P6: a command that is added later must not forget the scripts."""
    assert ("--json" in bare(*path, "--help").stdout) == bool(path)


def test_json_is_the_same_on_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: scripts may run anywhere; nothing is folded, dropped or coloured."""
    monkeypatch.setenv("COLUMNS", "20")
    assert json.loads(cli.screen("chunks", "--json")) == cli.json("chunks")
