"""Typed expressions from their parts: every promotion becomes a cast, every refusal a `MismatchError`.

Casts and signs of constants are worked out here, so that `bytes > 1000` compares with the BIGINT 1000.
"""

from __future__ import annotations

import pyarrow as pa

from moirae.model.evaluate import evaluate
from moirae.model.expr import Call, Expr, Lit
from moirae.model.functions import FUNCTIONS
from moirae.model.rules import MismatchError, check_cast
from moirae.model.schema import Type

_ONE_ROW = pa.table({"_": [None]})


def call(name: str, *args: Expr) -> Expr:
    """A function applied to arguments.

    >>> from moirae.model.expr import Col
    >>> call(">", Col("bytes", Type.BIGINT), Lit(1000, Type.INT)).args[1]
    Lit(value=1000, type=<Type.BIGINT: 'BIGINT'>)
    """
    function = FUNCTIONS[name]
    wanted, result = function.rule([argument.type for argument in args])
    typed = tuple(cast(argument, type_) for argument, type_ in zip(args, wanted, strict=True))
    for position in function.constants:
        if position < len(typed) and not isinstance(typed[position], Lit):
            raise MismatchError(f"a constant as argument {position + 1}", "an expression", "write the value itself")
    if function.check:
        function.check(typed)
    if name == "not" and isinstance(typed[0], Call) and typed[0].function == "is_null":
        return Call("is_not_null", typed[0].args, result)  # one form for one meaning
    made = Call(name, typed, result)
    return _folded(made) if name == "neg" and isinstance(typed[0], Lit) else made


def cast(expr: Expr, want: Type) -> Expr:
    """The expression in another type."""
    if expr.type is want:
        return expr
    check_cast(expr.type, want)
    made = Call("cast", (expr,), want)
    return _folded(made) if isinstance(expr, Lit) else made


def case(*parts: Expr) -> Expr:
    """condition, value, …, else."""
    return call("case", *parts)


def _folded(expr: Call) -> Lit:
    found = evaluate(expr, _ONE_ROW)
    if expr.type in (Type.TIMESTAMP, Type.INTERVAL):
        found = found.cast(pa.int64())
    return Lit(found[0].as_py(), expr.type)
