"""Expressions as SQL text that means the same in Spark: constants carry their types, casts are written out.

Equal expressions have equal texts, and parentheses stand only where the text needs them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from moirae.model.expr import Call, Col, Expr, Lit, Param
from moirae.model.schema import Type

_LEVEL = {
    **{"or": 1, "and": 2, "not": 3},
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>", "in", "like", "is_null", "is_not_null"), 4),
    **{"+": 6, "-": 6, "*": 7, "/": 7, "%": 7, "div": 7, "neg": 8},
}
_CHAINED = ("or", "and", "+", "-", "*", "/", "%", "div")
_ATOM = 9


def show(expr: Expr) -> str:
    """
    >>> x = Col("x", Type.BIGINT)
    >>> show(Call("*", (Call("+", (x, Lit(1, Type.BIGINT)), Type.BIGINT), x), Type.BIGINT))
    '(x + 1L) * x'
    """
    match expr:
        case Lit():
            return show_literal(expr)
        case Col(name):
            return show_name(name)
        case Param(name):
            return f":{show_name(name)}"
        case Call():
            return _call(expr)


def show_name(name: str) -> str:
    """
    >>> show_name("bytes"), show_name("free space")
    ('bytes', '`free space`')
    """
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"


def show_literal(literal: Lit) -> str:
    value, type_ = literal.value, literal.type
    if value is None:
        spark = "INTERVAL DAY TO SECOND" if type_ is Type.INTERVAL else type_.value
        return "NULL" if type_ is Type.NULL else f"CAST(NULL AS {spark})"
    match type_:
        case Type.STRING:
            return show_text(str(value))
        case Type.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case Type.BIGINT:
            return f"{value}L"
        case Type.DOUBLE:
            return _double(float(value))
        case Type.TIMESTAMP:
            return f"TIMESTAMP '{_time(int(value))}'"
        case Type.INTERVAL:
            return f"INTERVAL '{_seconds(int(value))}' SECOND"
    return str(value)


def show_text(text: str) -> str:
    r"""
    >>> print(show_text("it's"))
    'it\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _double(value: float) -> str:
    return f"{value!r}D" if abs(value) < float("inf") else f"CAST('{value}' AS DOUBLE)"


def _time(micros: int) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros} microseconds"
    text = moment.replace(tzinfo=None).isoformat(" ")
    return text.rstrip("0") if "." in text else text


def _seconds(micros: int) -> str:
    whole, rest = divmod(abs(micros), 1_000_000)
    return f"{'-' if micros < 0 else ''}{whole}" + (f".{rest:06d}".rstrip("0") if rest else "")


def _call(expr: Call) -> str:
    name, args = expr.function, expr.args
    if name == "cast":
        return f"CAST({show(args[0])} AS {expr.type.value})"
    if name == "case":
        return _case(args)
    if name not in _LEVEL:
        return f"{name}({', '.join(map(show, args))})"
    if name in ("is_null", "is_not_null"):
        return f"{_inside(args[0], 5)} {name.upper().replace('_', ' ')}"
    if name == "in":
        return f"{_inside(args[0], 5)} IN ({', '.join(map(show, args[1:]))})"
    if name in ("not", "neg"):
        return f"{'NOT ' if name == 'not' else '-'}{_inside(args[0], _LEVEL[name] + (name == 'neg'))}"
    return _infix(name, args)


def _infix(name: str, args: tuple[Expr, ...]) -> str:
    level = _LEVEL[name]
    left = _inside(args[0], level if name in _CHAINED else level + 1)
    return f"{left} {name.upper()} {_inside(args[1], level + 1)}"


def _inside(expr: Expr, least: int) -> str:
    level = _LEVEL.get(expr.function, _ATOM) if isinstance(expr, Call) else _ATOM
    if isinstance(expr, Lit) and isinstance(expr.value, int | float) and expr.value < 0:
        level = 8
    return show(expr) if level >= least else f"({show(expr)})"


def _case(args: tuple[Expr, ...]) -> str:
    pairs = zip(args[0:-1:2], args[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {show(condition)} THEN {show(value)}" for condition, value in pairs)
    return f"CASE {whens} ELSE {show(args[-1])} END"
