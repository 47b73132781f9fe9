"""Laws of expressions: columns at once give what rows one by one give, and the text of an expression says all of it."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import expr as oracle

from moirae.lang import bind
from moirae.model.build import call, cast
from moirae.model.evaluate import evaluate
from moirae.model.expr import Call, Col, Expr, Lit, columns_of, conjuncts, walk
from moirae.model.rules import CASTS, MismatchError
from moirae.model.schema import Schema, Type
from moirae.model.show import show

SCHEMA = Schema.of(
    p=Type.BOOLEAN,
    i=Type.INT,
    j=Type.INT,
    b=Type.BIGINT,
    d=Type.DOUBLE,
    f=Type.DOUBLE,
    s=Type.STRING,
    r=Type.STRING,
    at=Type.TIMESTAMP,
)
YEAR = 365 * 86_400_000_000
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.BOOLEAN: st.booleans(),
    Type.INT: st.sampled_from([0, 1, -1, 2, 7, -13, 2**31 - 1, -(2**31)]) | st.integers(-(2**31), 2**31 - 1),
    Type.BIGINT: st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1),
    Type.DOUBLE: st.sampled_from([0.0, -0.0, 0.5, 2.675, -1.5, math.nan, math.inf, -math.inf, 1e300]) | st.floats(),
    Type.STRING: st.text("ab%_\\ é\n'", max_size=5),
    Type.TIMESTAMP: st.integers(-50 * YEAR, 200 * YEAR),
    Type.INTERVAL: st.integers(-YEAR, YEAR),
}
UNARY: tuple[str, ...] = (
    "neg",
    "not",
    "is_null",
    "is_not_null",
    "abs",
    "round",
    "floor",
    "ceil",
    "sqrt",
    "length",
    "trim",
    "hour",
)
UNARY += ("minute", "dayofweek", "unix_timestamp")
BINARY: tuple[str, ...] = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "div",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<=>",
    "and",
    "or",
    "concat",
    "in",
)
BINARY += ("greatest", "least", "coalesce", "+", "*", "and", "or")
TERNARY = ("case", "in", "greatest", "coalesce")


def literals() -> st.SearchStrategy[Expr]:
    typed = [st.builds(Lit, values, st.just(type_)) for type_, values in VALUES.items()]
    return st.one_of(*typed, st.just(Lit(None, Type.NULL)))


@st.composite
def calls(draw: st.DrawFn, inner: st.SearchStrategy[Expr]) -> Expr:
    name = draw(st.sampled_from((*UNARY, *BINARY, *TERNARY, "cast", "round", "substring", "like")))
    small = st.integers(-4, 4).map(lambda n: Lit(n, Type.INT))
    try:
        if name == "cast":
            return _cast(draw(inner), draw(st.sampled_from([*VALUES])))
        if name in ("round", "substring"):
            return call(name, draw(inner), *(draw(small) for _ in range(1 if name == "round" else 2)))
        if name == "like":
            return call(name, draw(inner), Lit(draw(st.text("ab%_é\n", max_size=4)), Type.STRING))
        count = 1 if name in UNARY else 2 if name in BINARY else 3
        return call(name, *(draw(inner) for _ in range(count)))
    except MismatchError:
        assume(False)
        raise


def _cast(expr: Expr, want: Type) -> Expr:
    """Casts the oracle spells out; the others are compared with Spark itself."""
    spelled = want in (Type.BOOLEAN, Type.INT, Type.BIGINT, Type.DOUBLE) and expr.type is not Type.STRING
    assume(want in CASTS[expr.type] and (spelled or (want is Type.STRING and expr.type in (Type.INT, Type.BOOLEAN))))
    return cast(expr, want)


def expressions() -> st.SearchStrategy[Expr]:
    columns = st.sampled_from([Col(column.name, column.type) for column in SCHEMA])
    return st.recursive(columns | columns | literals(), calls, max_leaves=8)


def rows() -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({column.name: st.none() | VALUES[column.type] for column in SCHEMA})
    return st.lists(row, max_size=6)


def spelled_out(expr: Expr) -> bool:
    """concat casts to text by itself, also what the oracle cannot spell."""
    return all(
        not (isinstance(part, Call) and part.function == "cast" and part.type is Type.STRING)
        or part.args[0].type in (Type.INT, Type.BIGINT, Type.BOOLEAN, Type.NULL)
        for part in walk(expr)
    )


def alike(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or left == right
    return bool(left == right) and type(left) is type(right)


def plain(array: pa.Array, type_: Type) -> list[Any]:
    micros = type_ in (Type.TIMESTAMP, Type.INTERVAL)
    return list((array.cast(pa.int64()) if micros else array).to_pylist())


@settings(max_examples=400, deadline=None)
@given(expressions().filter(spelled_out), rows())
def test_columns_give_what_rows_give(expr: Expr, table: list[dict[str, Any]]) -> None:
    """M7: one meaning of an expression, wherever it is evaluated."""
    found = evaluate(expr, pa.Table.from_pylist(table, schema=SCHEMA.arrow))
    expected = [oracle.value(expr, row) for row in table]
    assert found.type == expr.type.arrow
    assert len(found) == len(table)
    for left, right in zip(plain(found, expr.type), expected, strict=True):
        assert alike(left, right), f"{show(expr)}: {left!r}, expected {right!r}"


@settings(max_examples=300, deadline=None)
@given(expressions())
def test_shown_text_is_read_back_as_the_same_expression(expr: Expr) -> None:
    assume(expr.type not in (Type.INTERVAL, Type.NULL))
    assume(not any(isinstance(part, Lit) and part.type is Type.NULL for part in walk(expr)))
    assume(not any(isinstance(part, Lit) and _is_odd(part) for part in walk(expr)))
    text = f"CREATE STREAM t ({SCHEMA.ddl}) ORDER BY at; SELECT {show(expr)} AS x FROM t"
    again = bind(text).result
    assert again is not None
    assert again.select[0].expr == expr


def _is_odd(part: Lit) -> bool:
    """NaN differs from itself, and an interval that is NULL cannot be written by hand."""
    return part == Lit(None, Type.INTERVAL) or (isinstance(part.value, float) and math.isnan(part.value))


@given(st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, max_size=6))
def test_conjuncts_are_the_parts_of_a_chain(names: list[str]) -> None:
    chain: Expr = Col(names[0], Type.BOOLEAN)
    for name in names[1:]:
        chain = call("and", chain, Col(name, Type.BOOLEAN))
    assert [part.name for part in conjuncts(chain) if isinstance(part, Col)] == names
    assert columns_of(chain) == tuple(dict.fromkeys(names))
