"""The obvious way to answer a recall: look at every row, keep those that count, compute with fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Of = Callable[[Row, Row], Any]  # a value of (row, event); None is NULL


@dataclass(frozen=True)
class Question:
    """A recall as Python functions: the condition, the keys, and (function, argument) of each aggregate."""

    where: Of
    keys: Sequence[Of]
    aggregates: Sequence[tuple[str, Of | None]]


def brute_force(
    question: Question, rows: Iterable[Row], event: Row, lo: int, hi: int
) -> dict[tuple[Any, ...], list[Any]]:
    """Values of the aggregates by group over rows with lo <= at < hi."""
    groups: dict[tuple[Any, ...], list[Row]] = {} if question.keys else {(): []}
    for row in rows:
        if lo <= row["at"] < hi and question.where(row, event) is True:
            groups.setdefault(tuple(key(row, event) for key in question.keys), []).append(row)
    return {
        key: [_value(name, of, members, event) for name, of in question.aggregates] for key, members in groups.items()
    }


def _value(function: str, of: Of | None, rows: list[Row], event: Row) -> Any:
    if of is None:
        return len(rows)
    values = [value for row in rows if (value := of(row, event)) is not None]
    if function in ("count", "count_distinct"):
        return len(values) if function == "count" else len(set(values))
    if not values:
        return None
    if function in ("min", "max"):
        return min(values) if function == "min" else max(values)
    return _number(function, values)


def _number(function: str, values: list[Any]) -> Any:
    total, n = sum(map(Fraction, values), Fraction()), len(values)
    if function == "sum":
        return _sum(total, values)
    if function == "avg":
        return float(total / n)
    squares = sum((Fraction(value) - total / n) ** 2 for value in values)
    if function in ("var_pop", "stddev_pop"):
        return float(squares / n) if function == "var_pop" else math.sqrt(squares / n)
    if n == 1:
        return None
    return float(squares / (n - 1)) if function == "variance" else math.sqrt(squares / (n - 1))


def _sum(total: Fraction, values: list[Any]) -> Any:
    if isinstance(values[0], float):
        return float(total)
    return int(total) if -(2**63) <= total < 2**63 else None


def turn_of(at: int, turns: Sequence[tuple[int, int]]) -> list[int]:
    """The turns a row's time falls in."""
    return [number for number, (lo, hi) in enumerate(turns) if lo <= at < hi]
