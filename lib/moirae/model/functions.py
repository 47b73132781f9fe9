"""The one table of functions and operators: name, type rule, computation over whole columns, spelling.

A `Call` names an entry of FUNCTIONS. `cast` is the one function whose result type is chosen by the writer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from moirae.model import rules
from moirae.model.expr import Expr, Lit
from moirae.model.rules import MismatchError, Rule, fixed
from moirae.model.schema import Type
from moirae.model.vector import arithmetic, compare, strings, times


@dataclass(frozen=True, slots=True)
class Function:
    """`constants` are the positions of arguments that must be written as literals."""

    name: str
    rule: Rule
    apply: Callable[..., Any]
    constants: tuple[int, ...] = ()
    check: Callable[[tuple[Expr, ...]], None] | None = None
    operator: bool = False  # written with a symbol, and not callable by name


def _check_unit(args: tuple[Expr, ...]) -> None:
    unit = args[0]
    if isinstance(unit, Lit) and str(unit.value).lower() not in times.TRUNCATE:
        known = ", ".join(name for name, same in times.TRUNCATE.items() if name == same)
        raise MismatchError("a unit of time", repr(unit.value), f"write one of {known}")


def _check_pattern(args: tuple[Expr, ...]) -> None:
    """A backslash in LIKE may stand only before %, _ and itself, as in Spark."""
    pattern = args[1]
    rest = (
        str(pattern.value).replace("\\\\", "").replace("\\%", "").replace("\\_", "") if isinstance(pattern, Lit) else ""
    )
    if "\\" in rest:
        raise MismatchError("a backslash before %, _ or another backslash", repr(rest), "double the backslash")


def _operators() -> tuple[Function, ...]:
    symbols: tuple[tuple[str, Rule, Callable[..., Any]], ...] = (
        ("+", rules.plus, pc.add),
        ("-", rules.minus, pc.subtract),
        ("*", rules.arithmetic, pc.multiply),
        ("/", rules.divide, arithmetic.divide),
        ("div", rules.divide_whole, arithmetic.divide_whole),
        ("%", rules.arithmetic, arithmetic.modulo),
        ("neg", rules.signed, pc.negate),
        ("=", rules.compared, compare.equal),
        ("<>", rules.compared, compare.not_equal),
        ("<", rules.compared, compare.less),
        ("<=", rules.compared, compare.less_equal),
        (">", rules.compared, compare.greater),
        (">=", rules.compared, compare.greater_equal),
        ("<=>", rules.compared, compare.same),
        ("in", rules.compared, compare.one_of),
        ("and", rules.logical, pc.and_kleene),
        ("or", rules.logical, pc.or_kleene),
        ("not", rules.logical, pc.invert),
        ("is_null", rules.anything, pc.is_null),
        ("is_not_null", rules.anything, pc.is_valid),
        ("case", rules.cases, compare.case),
    )
    like = Function("like", fixed(Type.BOOLEAN, Type.STRING, Type.STRING), strings.like, (1,), _check_pattern, True)
    return (*(Function(name, rule, apply, operator=True) for name, rule, apply in symbols), like)


def _named() -> tuple[Function, ...]:
    double, text, number, time = Type.DOUBLE, Type.STRING, Type.INT, Type.TIMESTAMP
    return (
        Function("coalesce", rules.alike(1), pc.coalesce),
        Function("greatest", rules.alike(2), compare.greatest),
        Function("least", rules.alike(2), compare.least),
        Function("abs", rules.one_number, pc.abs),
        Function("round", rules.rounded, arithmetic.round_half_up, (1,)),
        Function("floor", rules.whole, arithmetic.whole(np.floor)),
        Function("ceil", rules.whole, arithmetic.whole(np.ceil)),
        Function("sqrt", fixed(double, double), pc.sqrt),
        Function("power", fixed(double, double, double), pc.power),
        Function("ln", fixed(double, double), arithmetic.positive_log(pc.ln)),
        Function("log10", fixed(double, double), arithmetic.positive_log(pc.log10)),
        Function("exp", fixed(double, double), arithmetic.exponential),
        Function("upper", fixed(text, text), pc.utf8_upper),
        Function("lower", fixed(text, text), pc.utf8_lower),
        Function("length", fixed(number, text), strings.characters),
        Function("concat", rules.texts, strings.concat),
        Function("substring", fixed(text, text, number, number, optional=1), strings.substring, (1, 2)),
        Function("trim", fixed(text, text), strings.trim),
        Function("date_trunc", fixed(time, text, time), times.truncate, (0,), _check_unit),
        Function("year", fixed(number, time), times.part(pc.year)),
        Function("month", fixed(number, time), times.part(pc.month)),
        Function("day", fixed(number, time), times.part(pc.day)),
        Function("hour", fixed(number, time), times.part(pc.hour)),
        Function("minute", fixed(number, time), times.part(pc.minute)),
        Function("second", fixed(number, time), times.part(pc.second)),
        Function("dayofweek", fixed(number, time), times.part(pc.day_of_week, count_from_zero=False, week_start=7)),
        Function("unix_timestamp", fixed(Type.BIGINT, time), times.unix_seconds),
    )


FUNCTIONS: dict[str, Function] = {function.name: function for function in (*_operators(), *_named())}

SYNONYMS = {
    "ceiling": "ceil",
    "pow": "power",
    "log": "ln",
    "substr": "substring",
    "ucase": "upper",
    "lcase": "lower",
    "char_length": "length",
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "dayofmonth": "day",
}
"""Other spellings Spark knows."""
