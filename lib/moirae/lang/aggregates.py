"""Aggregate functions: which names there are, what each takes and gives."""

from __future__ import annotations

from sqlglot import exp

from moirae.model.rules import MismatchError
from moirae.model.schema import Type

NAMES = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "stddev": "stddev",
    "stddev_samp": "stddev",
    "std": "stddev",
    "stddev_pop": "stddev_pop",
    "variance": "variance",
    "var_samp": "variance",
    "var_pop": "var_pop",
}
"""As written -> one of model.query.AGGREGATES."""


def is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.name).lower() in NAMES


def has_aggregate(node: exp.Expr) -> bool:
    return any(is_aggregate(part) for part in node.walk())


def result_type(function: str, argument: Type, *, windowed: bool) -> Type:
    """The type of the aggregate, or a MismatchError."""
    if function in ("count", "count_distinct"):
        return Type.BIGINT
    if function in ("min", "max"):
        return _extreme(function, argument, windowed)
    if not argument.numeric and argument is not Type.NULL:
        raise MismatchError(
            f"a number in {function}", argument.value, "use CAST(… AS DOUBLE) if the values are numbers"
        )
    return Type.BIGINT if function == "sum" and argument in (Type.INT, Type.BIGINT) else Type.DOUBLE


def _extreme(function: str, argument: Type, windowed: bool) -> Type:
    if argument is Type.INTERVAL:
        raise MismatchError(
            f"a value that can be kept in {function}", argument.value, "use unix_timestamp(…) of the times"
        )
    if windowed and argument in (Type.STRING, Type.BOOLEAN):
        remedy = "group by the text" if argument is Type.STRING else "use CAST(… AS INT)"
        expected = f"a number or a time in {function} over a window"
        raise MismatchError(expected, argument.value, f"{argument.value} is not supported there yet; {remedy}")
    return argument
