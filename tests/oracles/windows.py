"""The obvious way to find events: a list of rows for every key and window, aggregates computed with fractions.

Numbers that a machine may round are `approx`, with a slack that grows with the size of the values they came from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from tests.oracles.arrival import eid, key_text

Row = dict[str, Any]
Of = Callable[[Row], Any]  # a value of a row; None is NULL


@dataclass(frozen=True)
class Windowed:
    """A window query as Python functions; an aggregate without a value is count(*)."""

    name: str
    size: int
    hop: int
    keys: Sequence[Of]
    aggregates: Sequence[tuple[str, Of | None]]
    where: Of = lambda _: True
    version: int = 1

    def events(self, rows: Sequence[Row]) -> list[list[Any]]:
        """[eid, at, keys…, aggregates…, window start, window end] in (at, eid) order."""
        groups: dict[tuple[str, int], list[Row]] = {}
        for row in rows:
            if self.where(row) is True:
                text = key_text([key(row) for key in self.keys])
                for start in starts(row["at"], self.size, self.hop):
                    groups.setdefault((text, start), []).append(row)
        found = [self._event(text, start, members) for (text, start), members in groups.items()]
        return sorted(found, key=lambda event: (event[1], event[0]))

    def _event(self, text: str, start: int, rows: list[Row]) -> list[Any]:
        keys = [same_nan(key(rows[0])) for key in self.keys]
        values = [aggregate(name, of, rows) for name, of in self.aggregates]
        end = start + self.size
        return [eid(self.name, self.version, text, start), end, *keys, *values, start, end]


@dataclass(frozen=True)
class Filtered:
    """A filter and projection; a row knows its position as `_pos`."""

    name: str
    select: Sequence[Of]
    where: Of
    version: int = 1

    def events(self, rows: Sequence[Row]) -> list[list[Any]]:
        found = [
            [eid(self.name, self.version, "", row["_pos"]), row["at"], *(of(row) for of in self.select)]
            for row in rows
            if self.where(row) is True
        ]
        return sorted(found, key=lambda event: (event[1], event[0]))


def starts(at: int, size: int, hop: int) -> list[int]:
    """Where the windows that hold this time begin: at multiples of hop, [start, start + size)."""
    first = (at - size) // hop * hop
    return [start for start in range(first, at + hop, hop) if start <= at < start + size]


def same_nan(value: Any) -> Any:
    """NaN equals itself here."""
    return pytest.approx(value, nan_ok=True) if isinstance(value, float) else value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def aggregate(function: str, of: Of | None, rows: list[Row]) -> Any:
    if of is None:
        return len(rows)
    values = [value for row in rows if (value := of(row)) is not None]
    if function == "count":
        return len(values)
    if function == "count_distinct":
        return len({"NaN" if _is_nan(value) else value for value in values})
    if not values:
        return None
    if function in ("min", "max"):
        return _extreme(function, values)
    return _sum(values) if function == "sum" else _moment(function, values)


def _extreme(function: str, values: list[Any]) -> Any:
    """NaN is greater than any number."""
    ordered = sorted(values, key=lambda value: (_is_nan(value), 0 if _is_nan(value) else value))
    return same_nan(ordered[0] if function == "min" else ordered[-1])


def _sum(values: list[Any]) -> Any:
    if isinstance(values[0], int):
        return (sum(values) + 2**63) % 2**64 - 2**63  # wraps
    special = _special(values)
    return _near(float(sum(map(Fraction, values))), values, 1) if special is None else same_nan(special)


def _moment(function: str, values: list[Any]) -> Any:
    n = len(values)
    missing = 1 if function in ("stddev", "variance") else 0
    if n <= missing:
        return None
    special = _special(values)
    if special is not None:
        return same_nan(special if function == "avg" else math.nan)
    mean = sum(map(Fraction, values)) / n
    if function == "avg":
        return _near(float(mean), values, 1)
    variance = sum((Fraction(value) - mean) ** 2 for value in values) / (n - missing)
    if function in ("variance", "var_pop"):
        return _near(float(variance), values, 2)
    return _near(math.sqrt(variance), values, 1)


def _special(values: list[Any]) -> float | None:
    """The sum of values that are not all finite."""
    odd = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    return sum(odd) if odd else None


def _near(value: float, values: list[Any], power: int) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12 * max(abs(float(v)) for v in values) ** power * len(values))
