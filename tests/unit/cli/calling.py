"""The command line as a script or a person calls it: in this process, over a store of its own, with a clock to wind."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.unit.cli.filled import NOW
from typer.main import get_command
from typer.testing import CliRunner, Result

from moirae.cli.main import app
from moirae.cli.session import Session

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Cli:
    """`cli("chunks")` runs a command to its end; what is no error of Moirae is raised in the test."""

    store: Path
    now: int = NOW
    clock: Callable[[], int] = field(init=False)

    def __post_init__(self) -> None:
        self.clock = lambda: self.now

    def __call__(self, *arguments: str, answer: str | None = None) -> Result:
        runner = CliRunner()
        return runner.invoke(app, self._all(arguments), obj=self._session(), input=answer, catch_exceptions=False)

    def json(self, *arguments: str) -> Any:
        """What a script reads: a command that went well said nothing but JSON."""
        result = self(*arguments, "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)

    def lines(self, *arguments: str) -> list[str]:
        """What a person reads, without the blanks that fill columns."""
        result = self(*arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        return [line.rstrip() for line in result.stdout.splitlines()]

    def refusal(self, *arguments: str) -> str:
        """Why a command could not be carried out; nothing was printed as a result."""
        result = self(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        return result.stderr.removesuffix("\n")

    def misuse(self, *arguments: str) -> str:
        """What was wrong with the way a command was written."""
        result = self(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        return result.stderr.split("Error: ", 1)[1].strip()

    def screen(self, *arguments: str) -> str:
        """All that is sent to a terminal, escape sequences too. Its width is that of COLUMNS."""
        return on_terminal(lambda: self.main(*arguments))

    def main(self, *arguments: str) -> object:
        """With the outputs of the moment, whatever they are; the exit code."""
        return get_command(app).main(self._all(arguments), "moirae", standalone_mode=False, obj=self._session())

    def _all(self, arguments: tuple[str, ...]) -> list[str]:
        return ["--set", f"store.root=file:{self.store}", *arguments]

    def _session(self) -> Session:
        return Session(clock=self.clock)


def on_terminal(act: Callable[[], object]) -> str:
    """What `act` writes to a terminal of the system's own making, on both outputs."""
    keyboard, display = os.openpty()
    received: list[bytes] = []
    reader = threading.Thread(target=_receive, args=(keyboard, received))
    reader.start()
    try:
        with os.fdopen(display, "w") as screen, redirect_stdout(screen), redirect_stderr(screen):
            act()
    finally:
        reader.join()
        os.close(keyboard)
    return b"".join(received).decode().replace("\r\n", "\n")


def _receive(keyboard: int, received: list[bytes]) -> None:
    """Until the other side is closed, which a terminal tells by an error."""
    while True:
        try:
            received.append(os.read(keyboard, 65_536))
        except OSError:
            return


def plain(screen: str) -> list[str]:
    """The lines of a screen without colours and movements."""
    return [line.rstrip() for line in _ESCAPES.sub("", screen).splitlines()]
