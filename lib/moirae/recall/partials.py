"""A partial answer: aggregates by group, over some of the rows, that can be merged with any other part.

Merging is associative and commutative (whole numbers, extremes and sets exactly; DOUBLE sums and variances up to their
rounding), so chunks may be read in any cut and order. A partial holds no rows and is never changed once made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa

from moirae.model.query import RecallDef
from moirae.model.schema import Column, Type
from moirae.recall.states import RULES, State, Value, columnar

Key = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One aggregate: its result's name and type, and the type of what it aggregates (None: count(*))."""

    name: str
    function: str
    argument: Type | None
    type: Type


@dataclass(frozen=True, slots=True)
class Shape:
    """What a partial is made of: the group's keys and the aggregates."""

    keys: tuple[Column, ...]
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, recall: RecallDef) -> Shape:
        keys = tuple(Column(key.name, key.expr.type) for key in recall.keys)
        parts = (Part(a.name, a.function, a.argument.type if a.argument else None, a.type) for a in recall.aggregates)
        return cls(keys, tuple(parts))

    @property
    def start(self) -> tuple[State, ...]:
        return tuple(RULES[part.function].empty for part in self.parts)


@dataclass(frozen=True, slots=True)
class Partial:
    """The states of each group that has rows."""

    shape: Shape
    groups: Mapping[Key, tuple[State, ...]] = field(default_factory=dict)


def merge(a: Partial, b: Partial) -> Partial:
    """Both parts together; their rows must be disjoint."""
    if a.shape != b.shape:
        raise ValueError(f"partials of one recall expected, but found {a.shape} and {b.shape}; start the task anew")
    if not a.groups or not b.groups:
        return b if not a.groups else a
    rules = [RULES[part.function].merge for part in a.shape.parts]
    groups = dict(a.groups)
    for key, states in b.groups.items():
        known = groups.get(key)
        if known is None:
            groups[key] = states
        else:
            groups[key] = tuple(rule(x, y) for rule, x, y in zip(rules, known, states, strict=True))
    return Partial(a.shape, groups)


def merge_all(shape: Shape, partials: Iterable[Partial]) -> Partial:
    """All parts together; the partial of no rows for none."""
    return reduce(merge, partials, Partial(shape))


def finish(partial: Partial) -> pa.Table:
    """The keys and aggregates, one row a group; without keys always one row, as in SQL."""
    shape, groups = partial.shape, partial.groups
    if not shape.keys and not groups:
        groups = {(): shape.start}
    columns = {
        column.name: columnar([key[place] for key in groups], column.type) for place, column in enumerate(shape.keys)
    }
    for place, part in enumerate(shape.parts):
        rule = RULES[part.function].finish
        columns[part.name] = columnar([rule(states[place]) for states in groups.values()], part.type)
    return pa.table(columns)
