"""From a partial to what the user reads: the recall's own columns, and how much of history they cover.

While only part of the asked interval is covered, `sum` and `count` are stretched to the whole of it; all other
aggregates are given as they are. Once all is covered, every figure is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from moirae.model.evaluate import evaluate
from moirae.model.query import RecallDef
from moirae.recall.params import scalars, types_of
from moirae.recall.partials import Partial, finish
from moirae.recall.states import columnar, plain
from moirae.recall.turns import Turn

STRETCHED = ("sum", "count")

Row = dict[str, Any]


def make_answer(
    recall: RecallDef,
    partial: Partial,
    covered_from: int,
    covered_to: int,
    asked_from: int,
    asked_to: int,
    params: Mapping[str, Any] | None = None,
) -> pa.Table:
    """The recall's columns. The asked interval is the one its turns make up: `asked_extent(turns)`."""
    table = _stretch(recall, finish(partial), covered_to - covered_from, asked_to - asked_from)
    outputs = [output.expr for output in recall.select]
    given = scalars(types_of([*outputs, *([recall.having] if recall.having else [])]), params or {})
    if recall.having is not None:
        table = table.filter(evaluate(recall.having, table, given))
    return pa.table([evaluate(expr, table, given) for expr in outputs], schema=recall.schema.arrow)


def asked_extent(turns: Sequence[Turn]) -> tuple[int, int]:
    """The interval that can be answered: as asked, but no further back than the archive's first row."""
    return turns[-1].lo, turns[0].hi


def _stretch(recall: RecallDef, table: pa.Table, covered: int, asked: int) -> pa.Table:
    if covered >= asked or covered <= 0:
        return table
    for aggregate in recall.aggregates:
        if aggregate.function in STRETCHED:
            values = [_scaled(value, asked, covered) for value in plain(table.column(aggregate.name).combine_chunks())]
            place = table.schema.get_field_index(aggregate.name)
            table = table.set_column(place, aggregate.name, columnar(values, aggregate.type))
    return table


def _scaled(value: int | float | None, asked: int, covered: int) -> int | float | None:
    """A whole number is rounded half up, in exact arithmetic."""
    if isinstance(value, int):
        return (2 * value * asked + covered) // (2 * covered)
    return None if value is None else value * (asked / covered)


def rows_of(table: pa.Table) -> tuple[Row, ...]:
    """Rows as JSON can hold them: times in microseconds, NaN and the infinities as text, as Spark writes them."""
    columns = {name: [_json(value) for value in plain(column.combine_chunks())] for name, column in _columns(table)}
    return tuple(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _columns(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    return list(zip(table.column_names, table.columns, strict=True))


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
