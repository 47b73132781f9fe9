"""Where commands write: tables and lines for people, JSON for scripts, messages apart from results.

Without a terminal there are no colours, and lines are as long as they need to be. Text that came from outside is shown
with its control characters spelled out, so that no quarantined line can steer a terminal.
"""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_ENDLESS = 1_000_000  # columns of a pipe
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def console(file: IO[str] | None = None) -> Console:
    """Of this moment's standard output, unless another file is given."""
    from rich.console import Console

    file = file or sys.stdout
    width = None if file.isatty() else _ENDLESS
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


def print_json(value: object) -> None:
    _write_json(value, indent=2)


def print_json_line(value: object) -> None:
    _write_json(value)
    sys.stdout.flush()


def _write_json(value: object, indent: int | None = None) -> None:
    """Text as it is, unless the reader's encoding may lack some of it."""
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(value, indent=indent, ensure_ascii=plain) + "\n")


def confirm(question: str, yes: bool) -> None:
    """Go on, or end with nothing done."""
    if yes:
        return
    try:
        if typer.confirm(question, err=True):
            return
    except typer.Abort:  # no answer: interrupted, or nobody is there to give one
        note("\nexpected an answer, but found none; add --yes to go on without being asked")
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


def shorten(text: str, most: int) -> str:
    """
    >>> shorten("abcdef", 6), shorten("abcdefg", 6)
    ('abcdef', 'abcde…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "row"), count(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
