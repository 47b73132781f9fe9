"""Expressions: types, three-valued logic, the corners Spark users know."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from moirae.model.build import call, cast
from moirae.model.evaluate import evaluate
from moirae.model.expr import Call, Col, Expr, Lit, Param, columns_of, params_of
from moirae.model.functions import FUNCTIONS
from moirae.model.rules import MismatchError
from moirae.model.schema import Type
from moirae.model.show import show

X, S, AT = Col("x", Type.INT), Col("s", Type.STRING), Col("at", Type.TIMESTAMP)
D, P = Col("d", Type.DOUBLE), Col("p", Type.BOOLEAN)


def number(value: int) -> Lit:
    return Lit(value, Type.INT)


def column(expr: Expr, **columns: Any) -> list[Any]:
    return list(evaluate(expr, pa.table(columns)).to_pylist())


def test_a_constant_has_one_value_a_row() -> None:
    assert column(number(7), x=[1, 2, 3]) == [7, 7, 7]
    assert column(call("+", number(1), number(2)), x=[]) == []


def test_parameters_are_values_at_run_time() -> None:
    """M12: a recall's parameters are bound, never pasted."""
    expr = call("=", S, Param("server", Type.STRING))
    table = pa.table({"s": ["a", "b", None]})
    assert evaluate(expr, table, {"server": pa.scalar("a")}).to_pylist() == [True, False, None]
    assert evaluate(expr, table, {"server": pa.scalar(None, pa.string())}).to_pylist() == [None, None, None]
    assert (columns_of(expr), params_of(expr), show(expr)) == (("s",), ("server",), "s = :server")


def test_columns_in_chunks_and_in_other_widths_are_read() -> None:
    chunked = pa.table({"x": pa.chunked_array([pa.array([1], pa.int64()), pa.array([2], pa.int64())])})
    assert evaluate(call("+", X, number(1)), chunked).to_pylist() == [2, 3]


def test_integers_wrap_and_zero_divisors_give_null() -> None:
    """Spark with ansi off: no row can make a query fail."""
    x = pa.array([2**31 - 1, 5, None], pa.int32())
    assert column(call("+", X, number(1)), x=x) == [-(2**31), 6, None]
    assert column(call("/", X, number(0)), x=x) == [None, None, None]
    assert column(call("%", X, number(0)), x=x) == [None, None, None]
    assert call("/", X, number(2)).type is Type.DOUBLE


def test_nan_equals_itself_and_is_the_greatest_number() -> None:
    d = [math.nan, 1.0]
    assert column(call("=", D, D), d=d) == [True, True]
    assert column(call(">", D, Lit(math.inf, Type.DOUBLE)), d=d) == [True, False]
    assert column(call("least", D, Lit(5.0, Type.DOUBLE)), d=d) == [5.0, 1.0]


@pytest.mark.parametrize(
    ("digits", "given", "expected"),
    [(2, 2.675, 2.68), (0, 0.5, 1.0), (0, -0.5, -1.0), (0, 0.49999999999999994, 0.0), (1, 0.25, 0.3), (-1, 15.0, 20.0)],
)
def test_round_takes_halves_of_the_decimal_spelling_up(digits: int, given: float, expected: float) -> None:
    assert column(call("round", D, number(digits)), d=[given]) == [expected]


def test_constants_take_the_type_they_are_compared_with() -> None:
    assert call(">", Col("b", Type.BIGINT), number(3)) == Call(
        ">", (Col("b", Type.BIGINT), Lit(3, Type.BIGINT)), Type.BOOLEAN
    )
    assert show(call(">", AT, Lit("2026-01-31 08:00", Type.STRING))) == "at > TIMESTAMP '2026-01-31 08:00:00'"


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1970-01-01 01:00:00+01:00", 0),
        ("1970", 0),
        ("1970-01-02", 86_400_000_000),
        ("2026-02-29", None),
        ("2026-13-01", None),
        ("noon", None),
        ("1970-01-01 24:00", None),
    ],
)
def test_texts_become_times_or_null(text: str, micros: int | None) -> None:
    found = evaluate(cast(S, Type.TIMESTAMP), pa.table({"s": [text]}))
    assert found.cast(pa.int64()).to_pylist() == [micros]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("=", (S, number(1)), "expected values of one type, but found STRING and INT; quote the number"),
        ("+", (S, number(1)), "expected numbers, but found STRING and INT; use CAST"),
        ("+", (AT, number(1)), "expected TIMESTAMP and INTERVAL, but found TIMESTAMP and INT; write an interval"),
        ("-", (number(1), AT), "expected TIMESTAMP and TIMESTAMP, but found INT and TIMESTAMP"),
        ("and", (P, X), "expected conditions (BOOLEAN), but found BOOLEAN and INT"),
        ("upper", (X,), "expected arguments of type STRING, but found INT"),
        ("sqrt", (X, X), "expected 1 argument, but found 2"),
        ("like", (S, S), "expected a constant as argument 2, but found an expression"),
        ("date_trunc", (Lit("eon", Type.STRING), AT), "expected a unit of time, but found 'eon'; write one of"),
        ("case", (X, X, X), "expected conditions (BOOLEAN), but found INT"),
        ("coalesce", (X, S), "expected values of one type, but found INT and STRING"),
        ("greatest", (X,), "expected 2 or more arguments, but found 1"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_cure(name: str, args: tuple[Expr, ...], message: str) -> None:
    with pytest.raises(MismatchError) as refusal:
        call(name, *args)
    assert str(refusal.value).startswith(message)


def test_casts_that_mean_nothing_are_refused() -> None:
    with pytest.raises(MismatchError, match="a value that can become BOOLEAN"):
        cast(AT, Type.BOOLEAN)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (call("not", call("or", P, call("is_null", X))), "NOT (p OR x IS NULL)"),
        (call("-", X, call("-", X, number(1))), "x - (x - 1)"),
        (call("-", call("-", X, X), number(-1)), "x - x - -1"),
        (call("in", S, Lit("it's", Type.STRING)), "s IN ('it\\'s')"),
        (call("case", P, X, Lit(None, Type.NULL)), "CASE WHEN p THEN x ELSE CAST(NULL AS INT) END"),
        (call("+", AT, Lit(90_500_000, Type.INTERVAL)), "at + INTERVAL '90.5' SECOND"),
        (cast(Col("free space", Type.INT), Type.STRING), "CAST(`free space` AS STRING)"),
    ],
)
def test_shown_text_has_only_the_parentheses_it_needs(expr: Expr, text: str) -> None:
    assert show(expr) == text


def test_every_function_is_named_as_in_the_table() -> None:
    assert all(name == function.name for name, function in FUNCTIONS.items())
