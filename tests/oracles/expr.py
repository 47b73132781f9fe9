"""Expressions one row at a time: the slow obvious reading of Spark's rules, for laws to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from moirae.model.expr import Call, Col, Expr, Lit, Param
from moirae.model.schema import Type

Row = Mapping[str, Any]
_DIGITS = Context(prec=700)  # enough for every digit of every double
_BITS = {Type.INT: 32, Type.BIGINT: 64, Type.TIMESTAMP: 64, Type.INTERVAL: 64}


def value(expr: Expr, row: Row) -> Any:
    """The value for one row; times and intervals are microseconds."""
    match expr:
        case Lit():
            return expr.value
        case Col() | Param():
            return row[expr.name]
        case Call("cast", (argument,), want):
            return _cast(value(argument, row), argument.type, want)
        case Call(name, args, type_):
            return _call(name, [value(argument, row) for argument in args], type_)


def wrap(number: int, type_: Type) -> int:
    bits = _BITS[type_]
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _call(name: str, args: list[Any], type_: Type) -> Any:
    if name in _KEEPS_NULLS:
        return _KEEPS_NULLS[name](args)
    if any(argument is None for argument in args):
        return None
    result = _STRICT[name](*args)
    return (
        wrap(result, type_) if type_ in _BITS and isinstance(result, int) and not isinstance(result, bool) else result
    )


def less(left: Any, right: Any) -> bool:
    if isinstance(left, float) and math.isnan(left):
        return False
    if isinstance(right, float) and math.isnan(right):
        return True
    if isinstance(left, str):
        return bool(left.encode() < right.encode())
    return bool(left < right)


def same(left: Any, right: Any) -> bool:
    return not less(left, right) and not less(right, left)


def _and(args: list[Any]) -> Any:
    return False if False in args else (None if None in args else True)


def _or(args: list[Any]) -> Any:
    return True if True in args else (None if None in args else False)


def _in(args: list[Any]) -> Any:
    return _or([None if None in (args[0], choice) else same(args[0], choice) for choice in args[1:]])


def _case(args: list[Any]) -> Any:
    for condition, result in zip(args[0:-1:2], args[1:-1:2], strict=True):
        if condition is True:
            return result
    return args[-1]


def _most(args: list[Any], before: Callable[[Any, Any], bool]) -> Any:
    best = None
    for argument in args:
        if argument is not None and (best is None or before(best, argument)):
            best = argument
    return best


def _same_or_null(args: list[Any]) -> bool:
    left, right = args
    return left is right is None or (left is not None and right is not None and same(left, right))


_KEEPS_NULLS: dict[str, Callable[[list[Any]], Any]] = {
    "and": _and,
    "or": _or,
    "in": _in,
    "case": _case,
    "is_null": lambda args: args[0] is None,
    "is_not_null": lambda args: args[0] is not None,
    "<=>": _same_or_null,
    "coalesce": lambda args: next((argument for argument in args if argument is not None), None),
    "greatest": lambda args: _most(args, less),
    "least": lambda args: _most(args, lambda best, other: less(other, best)),
}


def _divide(left: float, right: float) -> float | None:
    return None if right == 0 else _ieee(lambda: left / right)


def _ieee(compute: Callable[[], float]) -> float:
    try:
        return compute()
    except OverflowError:
        return math.inf


def _modulo(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return int(math.copysign(1, left)) * (abs(left) % abs(right))


def _whole_divide(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def round_half_up(number: Any, places: int = 0) -> Any:
    if isinstance(number, float) and not math.isfinite(number):
        return number
    spelled = Decimal(repr(number))
    step = Decimal(1).scaleb(-places)
    rounded = spelled.quantize(step, ROUND_HALF_UP, _DIGITS) if -places <= spelled.adjusted() + 1 else 0
    return float(rounded) + 0.0 if isinstance(number, float) else int(rounded)


def to_whole(number: float, bits: int = 64) -> int:
    if math.isnan(number):
        return 0
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return max(low, min(high, int(number))) if math.isfinite(number) else (high if number > 0 else low)


def _substring(text: str, start: int, count: int | None = None) -> str:
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    end = len(text) if count is None else begin + count
    return "".join(letter for position, letter in enumerate(text) if begin <= position < end)


def _like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(_like(text[cut:], pattern[1:]) for cut in range(len(text) + 1))
    if pattern[0] == "_":
        return bool(text) and _like(text[1:], pattern[1:])
    first, rest = (pattern[1], pattern[2:]) if pattern[0] == "\\" else (pattern[0], pattern[1:])
    return text[:1] == first and _like(text[1:], rest)


_STRICT: dict[str, Callable[..., Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "%": _modulo,
    "div": _whole_divide,
    "neg": lambda number: -number,
    "=": same,
    "<>": lambda left, right: not same(left, right),
    "<": less,
    "<=": lambda left, right: not less(right, left),
    ">": lambda left, right: less(right, left),
    ">=": lambda left, right: not less(left, right),
    "not": lambda condition: not condition,
    "like": _like,
    "abs": abs,
    "round": round_half_up,
    "floor": lambda n: n if isinstance(n, int) else to_whole(float(math.floor(n)) if math.isfinite(n) else n),
    "ceil": lambda n: n if isinstance(n, int) else to_whole(float(math.ceil(n)) if math.isfinite(n) else n),
    "sqrt": lambda number: math.nan if number < 0 else math.sqrt(number),
    "length": len,
    "concat": lambda *texts: "".join(texts),
    "substring": _substring,
    "trim": lambda text: text.strip(" "),
    "hour": lambda micros: micros // 3_600_000_000 % 24,
    "minute": lambda micros: micros // 60_000_000 % 60,
    "dayofweek": lambda micros: (micros // 86_400_000_000 + 4) % 7 + 1,
    "unix_timestamp": lambda micros: micros // 1_000_000 if micros >= 0 else -(-micros // 1_000_000),
}


def _cast(given: Any, have: Type, want: Type) -> Any:
    if given is None or have is want:
        return given
    if want is Type.DOUBLE:
        return given / 1e6 if have is Type.TIMESTAMP else float(given)
    if want is Type.BOOLEAN:
        return given != 0
    if want in (Type.INT, Type.BIGINT):
        if have is Type.DOUBLE:
            return to_whole(given, _BITS[want])
        return wrap(given // 1_000_000 if have is Type.TIMESTAMP else int(given), want)
    if want is Type.STRING and have in (Type.INT, Type.BIGINT):
        return str(given)
    if want is Type.STRING and have is Type.BOOLEAN:
        return "true" if given else "false"
    raise NotImplementedError(f"{have} to {want}")
