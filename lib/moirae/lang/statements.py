"""Statements as they were read: heads taken apart, SELECT bodies as sqlglot trees, places kept, nothing resolved."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Name:
    """A name in lower case, and its offset."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quoted or bare value of a clause, and its offset."""

    text: str
    at: int
    quoted: bool = True


@dataclass(frozen=True, slots=True)
class ColumnText:
    name: Name
    type: Name | None


@dataclass(slots=True)
class Statement:
    """`at` is the offset of the first token, `text` the statement without its semicolon."""

    at: int
    text: str
    name: Name


@dataclass(slots=True)
class CreateStream(Statement):
    columns: list[ColumnText] = field(default_factory=list)
    order: Name | None = None
    lateness: Quantity | None = None
    valid: Quantity | None = None
    source: Name | None = None
    source_name: Quantity | None = None
    options: list[tuple[Name, Quantity]] = field(default_factory=list)


@dataclass(slots=True)
class CreateTable(Statement):
    columns: list[ColumnText] = field(default_factory=list)
    path: Quantity | None = None


@dataclass(slots=True)
class CreateEvent(Statement):
    """A bare SELECT is the event `result`."""

    body: exp.Select = field(default_factory=exp.Select)
    bare: bool = False


@dataclass(slots=True)
class CreateRecall(Statement):
    body: exp.Select = field(default_factory=exp.Select)
    event: Name = field(default=Name("", 0))
    alias: str = ""
    over: Quantity | None = None  # None: OVER ALL
    report_every: Quantity | None = None
    pause_every: Quantity | None = None
    patience: Quantity | None = None
