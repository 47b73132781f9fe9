"""The event's values as columns: an expression over many tasks' rows is evaluated once, not once a task.

A `Param` becomes a column of the same type whose name no archived column can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from moirae.errors import MoiraeError
from moirae.model.expr import Call, Col, Expr, Param, walk
from moirae.model.schema import Type


def types_of(expressions: Iterable[Expr]) -> dict[str, Type]:
    """The event's columns that the expressions read, with their types."""
    return {part.name: part.type for expr in expressions for part in walk(expr) if isinstance(part, Param)}


def column_name(param: str) -> str:
    return f"e.{param}"


def as_columns(expr: Expr) -> Expr:
    """The expression with every parameter read from its column."""
    match expr:
        case Param(name, type_):
            return Col(column_name(name), type_)
        case Call():
            return replace(expr, args=tuple(as_columns(argument) for argument in expr.args))
        case _:
            return expr


def param_table(types: Mapping[str, Type], events: Sequence[Mapping[str, Any]]) -> pa.Table:
    """One row an event; values are Arrow scalars or plain ones (times as microseconds)."""
    return pa.table({column_name(n): pa.array([_given(e, n, t) for e in events], t.arrow) for n, t in types.items()})


def scalars(types: Mapping[str, Type], event: Mapping[str, Any]) -> dict[str, pa.Scalar]:
    """The parameters of one event."""
    return {name: pa.scalar(_given(event, name, type_), type_.arrow) for name, type_ in types.items()}


def _given(event: Mapping[str, Any], name: str, type_: Type) -> Any:
    if name not in event:
        known = ", ".join(event) or "none"
        raise MoiraeError(f"event column '{name}' expected, but found only {known}; deploy the recall again")
    value = event[name]
    if not isinstance(value, pa.Scalar):
        return value
    return value.cast(pa.int64()).as_py() if type_ in (Type.TIMESTAMP, Type.INTERVAL) else value.as_py()
