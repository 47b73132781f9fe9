"""How far a long command is: a bar for somebody who watches a terminal, nothing in a pipe, a file or for scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from moirae.cli.output import console


@contextmanager
def progress(what: str, silent: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A function to tell what is done and all there is. Drawn beside the result, on standard error, and then erased."""
    screen = console(sys.stderr)
    if silent or not screen.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*parts, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
