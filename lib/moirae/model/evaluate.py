"""The value of a typed expression over the rows of an Arrow table, column by column.

The result has one value a row and the expression's own type. No row can make it fail.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from moirae.model.expr import Call, Col, Expr, Lit, Param
from moirae.model.functions import FUNCTIONS
from moirae.model.schema import Type
from moirae.model.vector.casts import cast
from moirae.model.vector.convert import Value, column, length


def evaluate(expr: Expr, table: pa.Table, params: Mapping[str, pa.Scalar] | None = None) -> pa.Array:
    """One value a row of the table.

    >>> double = Call("+", (Col("x", Type.BIGINT), Col("x", Type.BIGINT)), Type.BIGINT)
    >>> evaluate(double, pa.table({"x": [1, None, 3]})).to_pylist()
    [2, None, 6]
    """
    return column(_value(expr, table, params or {}), table.num_rows)


def _value(expr: Expr, table: pa.Table, params: Mapping[str, pa.Scalar]) -> Value:
    match expr:
        case Lit(value, type_):
            return pa.scalar(value, type_.arrow)
        case Col(name, type_):
            return _column(table.column(name), type_)
        case Param(name, type_):
            given = params[name]
            return given if given.type == type_.arrow else given.cast(type_.arrow)
        case Call():
            return _call(expr, [_value(argument, table, params) for argument in expr.args])


def _column(values: pa.ChunkedArray, type_: Type) -> pa.Array:
    array = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    return array if array.type == type_.arrow else array.cast(type_.arrow)


def _call(expr: Call, args: list[Value]) -> Value:
    """Constants stay scalars; a call of nothing but constants is computed once, on a column of one row."""
    fixed = () if expr.function == "cast" else FUNCTIONS[expr.function].constants
    open_ = [position for position in range(len(args)) if position not in fixed]
    if any(isinstance(args[position], pa.Array) for position in open_):
        return _apply(expr, args)
    lifted = [column(value, 1) if position in open_ else value for position, value in enumerate(args)]
    return _apply(expr, lifted)[0]


def _apply(expr: Call, args: list[Value]) -> Value:
    if expr.function == "cast":
        return cast(args[0], expr.args[0].type, expr.type)
    if expr.type is Type.NULL:
        return pa.nulls(length(*args), Type.NULL.arrow)
    return FUNCTIONS[expr.function].apply(*args)
