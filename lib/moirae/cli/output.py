"""Where commands write: tables and lines for people, JSON for scripts, messages apart from results.

Without a terminal there are no colours, and lines are as long as they need to be. Text that came from outside is shown
with its control characters spelled out, so that no quarantined line can steer a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPED_WIDTH = 200
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def console(file: IO[str] | None = None) -> Console:
    """Of this moment's standard output, unless another file is given."""
    from rich.console import Console

    file = file or sys.stdout
    width = None if file.isatty() else _PIPED_WIDTH
    return Console(file=file, width=width, markup=False, highlight=False, emoji=False)


def say(text: str, style: str = "") -> None:
    """A line of the result."""
    console().print(text, style=style or None, soft_wrap=True)


def note(text: str, style: str = "") -> None:
    """A line beside the result, on standard error."""
    console(sys.stderr).print(text, style=style or None, soft_wrap=True)


def show(*parts: RenderableType) -> None:
    for part in parts:
        console().print(part)


def grid(headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", right: Iterable[str] = ()) -> Any:
    """A table; the columns named in `right` are figures."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, title_style="bold")
    numbers = set(right)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_json_line(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def confirm(question: str, yes: bool) -> None:
    """Go on, or end with nothing done."""
    if not yes and not typer.confirm(question, err=True):
        note("nothing was done")
        raise typer.Exit(1)


def visible(text: str) -> str:
    r"""
    >>> visible("a\x1b[31mb\tc\u202e")
    'a\\x1b[31mb\\tc\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "row"), count(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
