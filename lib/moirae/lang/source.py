"""A pack's text, its tokens and the places in it, and the list of what is wrong with it.

Places are offsets into the whole text until they are reported, so a SELECT parsed from a slice of the tokens has the
line and column of the file.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from moirae.errors import Finding, Span
from moirae.model.rules import MismatchError


@dataclass(slots=True)
class Report:
    """Findings collected while one text is read. `query` is the statement being read."""

    text: str
    where: str = ""
    query: str = ""
    findings: list[Finding] = field(default_factory=list)
    _lines: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = [0, *(position + 1 for position, letter in enumerate(self.text) if letter == "\n")]

    def span(self, offset: int) -> Span:
        """
        >>> Report("ab\\ncd").span(4)
        Span(line=2, column=2)
        """
        line = bisect_right(self._lines, offset)
        return Span(line, offset - self._lines[line - 1] + 1)

    def add(self, offset: int, expected: str, found: str, remedy: str) -> None:
        finding = Finding(self.span(offset), expected, found, remedy, self.query, self.where)
        if finding not in self.findings:
            self.findings.append(finding)

    def mismatch(self, offset: int, problem: MismatchError) -> None:
        self.add(offset, problem.expected, problem.found, problem.remedy)

    def quiet(self) -> Report:
        """A report nobody reads, for trying a reading out."""
        return Report("")


class RefusedError(Exception):
    """A statement that cannot be read any further; the reason is already in the report."""


def offset_of(node: exp.Expr, default: int) -> int:
    """Where a node begins in the text: the first of its tokens that has a place."""
    places = [_place(part) for part in node.walk()]
    return min((place for place in places if place is not None), default=node.meta.get("near", default))


def _place(node: exp.Expr) -> int | None:
    start = node.meta.get("start")
    if start is None and not any(True for _ in node.iter_expressions()):
        start = node.meta.get("near")
    return None if start is None else int(start)


def quoted(token: Token | None) -> str:
    """A token as an error names it."""
    if token is None:
        return "the end of the statement"
    text = token.text if len(token.text) <= 40 else token.text[:37] + "..."
    return f"'{text}'"


def nearest(name: str, known: Iterable[str], kind: str) -> str:
    """What to write instead of an unknown name.

    >>> nearest("byte", ["bytes", "at"], "columns"), nearest("qqq", ["bytes", "at"], "columns")
    ("write 'bytes'", 'known columns are at, bytes')
    """
    choices = sorted(set(known))
    close = difflib.get_close_matches(name, choices, n=1)
    if close:
        return f"write '{close[0]}'"
    if not choices:
        return f"there are no {kind} yet"
    shown = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
    return f"known {kind} are {shown}"
