"""Typed expressions over columns: values that can be shown, compared and evaluated.

Semantics are Spark SQL's with `spark.sql.ansi.enabled=false`: three-valued logic, division gives DOUBLE, a division by
zero or an impossible cast gives NULL, integers wrap. So an expression is total: no row can make a query fail.

Types are exact: the arguments of a `Call` already have the types its function computes with, and every implicit
promotion is an explicit `cast` (`moirae.model.build.call` puts them in). NaN is ordered as in Spark: it equals itself
and is greater than any other number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from moirae.model.schema import Type


@dataclass(frozen=True, slots=True)
class Col:
    """A column of the relation the expression is evaluated on."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Param:
    """A column of the event a recall is asked for: a value at run time, never pasted into text."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lit:
    """A constant: bool, int, float, str or None; microseconds for TIMESTAMP and INTERVAL."""

    value: bool | int | float | str | None
    type: Type


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator of FUNCTIONS applied to arguments."""

    function: str
    args: tuple[Expr, ...]
    type: Type


Expr = Col | Param | Lit | Call


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, outermost first, left to right."""
    yield expr
    if isinstance(expr, Call):
        for argument in expr.args:
            yield from walk(argument)


def columns_of(expr: Expr) -> tuple[str, ...]:
    """Names of the columns read, each once, in the order of the text.

    >>> a, b = Col("a", Type.INT), Col("b", Type.INT)
    >>> columns_of(Call("+", (b, Call("+", (a, b), Type.INT)), Type.INT))
    ('b', 'a')
    """
    return tuple(dict.fromkeys(part.name for part in walk(expr) if isinstance(part, Col)))


def params_of(expr: Expr) -> tuple[str, ...]:
    """Names of the event's columns read, each once, in the order of the text."""
    return tuple(dict.fromkeys(part.name for part in walk(expr) if isinstance(part, Param)))


def conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """The parts of a chain of ANDs; nothing for no condition.

    >>> p, q = Col("p", Type.BOOLEAN), Col("q", Type.BOOLEAN)
    >>> [part.name for part in conjuncts(Call("and", (p, Call("and", (q, p), Type.BOOLEAN)), Type.BOOLEAN))]
    ['p', 'q', 'p']
    """
    if expr is None:
        return ()
    if isinstance(expr, Call) and expr.function == "and":
        return tuple(part for argument in expr.args for part in conjuncts(argument))
    return (expr,)
