"""sqlglot trees to typed expressions. `None` means the problem is already reported, so one error hides no other.

One table says which node is which operator; everything else the parser may produce is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from sqlglot import exp

from moirae.lang.aggregates import NAMES, is_aggregate
from moirae.lang.scope import Scope
from moirae.lang.source import Report, nearest, offset_of
from moirae.lang.types import type_of_cast
from moirae.model.build import call, cast
from moirae.model.expr import Call, Expr, Lit
from moirae.model.functions import FUNCTIONS, SYNONYMS
from moirae.model.rules import MismatchError
from moirae.model.schema import Type
from moirae.model.units import parse_duration

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.DPipe: "concat",
}
_WINDOWS = ("window", "session_window", "snapshot_window", "count_window", "small_window")


class Expressions:
    """Binds the expressions of one query. Subclasses give columns another meaning (see grouping)."""

    def __init__(self, scope: Scope, report: Report, at: int, place: str) -> None:
        self.scope, self.report, self.at, self.place = scope, report, at, place

    def bind(self, node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.Paren):
            return self.bind(node.this)
        if type(node) in _BINARY:
            return self.call(node, _BINARY[type(node)], node.this, node.args["expression"])
        method: Callable[[Any], Expr | None] = getattr(self, _METHODS.get(type(node), "unsupported"))
        return method(node)

    def condition(self, node: exp.Expr) -> Expr | None:
        """A WHERE or HAVING: BOOLEAN."""
        bound = self.bind(node)
        if bound is None or bound.type is Type.BOOLEAN:
            return bound
        if bound.type is Type.NULL:
            return cast(bound, Type.BOOLEAN)
        remedy = "compare the value with something, such as x <> 0"
        return self.refuse(node, "a condition (BOOLEAN)", bound.type.value, remedy)

    def refuse(self, node: exp.Expr, expected: str, found: str, remedy: str) -> Expr | None:
        self.report.add(offset_of(node, self.at), expected, found, remedy)
        return None

    def call(self, node: exp.Expr, name: str, *arguments: exp.Expr) -> Expr | None:
        bound = [self.bind(argument) for argument in arguments]
        return self.apply(node, name, bound)

    def apply(self, node: exp.Expr, name: str, bound: list[Expr | None]) -> Expr | None:
        known = [argument for argument in bound if argument is not None]
        if len(known) < len(bound):
            return None
        try:
            made = call(name, *known)
        except MismatchError as problem:
            self.report.mismatch(offset_of(node, self.at), problem)
            return None
        pairs = zip(known, made.args, strict=True) if isinstance(made, Call) else ()
        lost = [self.no_time(node, before, after) for before, after in pairs]
        return None if any(lost) else made

    def negated(self, node: exp.Expr, bound: Expr | None) -> Expr | None:
        return call("not", bound) if bound is not None and node.args.get("negate") else bound

    def unsupported(self, node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
            return self.refuse(node, "a value", "a subquery", "subqueries are not supported; write two queries")
        if isinstance(node, exp.Window):
            return self.refuse(node, "a value", "OVER (…)", "use GROUP BY window(…) instead of OVER")
        kind = node.key.upper().replace("_", " ")
        return self.refuse(node, "an expression of this version", kind, "it is not supported; write it another way")

    def column(self, node: exp.Column) -> Expr | None:
        if isinstance(node.this, exp.Star):
            return self.star(node)
        if node.table.lower() == "window" and "window" not in self.scope.names:
            remedy = "group by window(…) first; window.start and window.end can then be selected"
            return self.refuse(node, "a column", f"'window.{node.name}' in {self.place}", remedy)
        return self.scope.resolve(node, offset_of(node, self.at), self.report)

    def star(self, node: exp.Expr) -> Expr | None:
        return self.refuse(node, "a value", "'*'", "name a column; only count(*) takes a star")

    def boolean(self, node: exp.Boolean) -> Expr | None:
        return Lit(bool(node.this), Type.BOOLEAN)

    def null(self, _: exp.Null) -> Expr | None:
        return Lit(None, Type.NULL)

    def literal(self, node: exp.Literal) -> Expr | None:
        text = str(node.this)
        if node.is_string:
            return Lit(text, Type.STRING)
        if text.isdecimal() and len(text) <= 40 and int(text) < 1 << 63:
            return Lit(int(text), Type.INT if int(text) < 1 << 31 else Type.BIGINT)
        try:
            value = float(text)
        except ValueError:
            value = float("inf")
        if isfinite(value):
            return Lit(value, Type.DOUBLE)
        return self.refuse(node, "a number", f"'{text[:40]}'", "write a number that fits a DOUBLE")

    def adjacent(self, node: exp.Concat) -> Expr | None:
        """Texts beside each other are one."""
        if not all(isinstance(part, exp.Literal) and part.is_string for part in node.expressions):
            return self.unsupported(node)
        return Lit("".join(str(part.this) for part in node.expressions), Type.STRING)

    def connected(self, node: exp.And | exp.Or) -> Expr | None:
        """Both sides are conditions of their own, so a mistake on the left hides none on the right."""
        sides = [self.condition(node.this), self.condition(node.args["expression"])]
        return self.apply(node, "and" if isinstance(node, exp.And) else "or", sides)

    def negative(self, node: exp.Neg) -> Expr | None:
        """The sign belongs to a literal, so that the least INT and BIGINT can be written (also as 9…8L, a cast)."""
        inner = node.this
        literal = inner.this if isinstance(inner, exp.Cast) and inner.to.this is exp.DType.BIGINT else inner
        if isinstance(literal, exp.Literal) and not literal.is_string and str(literal.this).isdecimal():
            value = -int(str(literal.this)[:40])
            if value >= -(1 << 63):
                small = literal is inner and value >= -(1 << 31)
                return Lit(value, Type.INT if small else Type.BIGINT)
        return self.call(node, "neg", node.this)

    def is_(self, node: exp.Is) -> Expr | None:
        other = node.args["expression"]
        if isinstance(other, exp.Null):
            return self.call(node, "is_null", node.this)
        if isinstance(other, exp.Boolean):
            return self.call(node, "<=>", node.this, other)
        return self.refuse(node, "IS NULL, IS TRUE or IS FALSE", "IS and something else", "write = or <=>")

    def not_(self, node: exp.Not) -> Expr | None:
        inner = node.this
        if isinstance(inner, exp.Is) and isinstance(inner.args["expression"], exp.Null):
            return self.call(node, "is_not_null", inner.this)
        return self.call(node, "not", inner)

    def between(self, node: exp.Between) -> Expr | None:
        value, low, high = (self.bind(node.args[part]) for part in ("this", "low", "high"))
        above = self.apply(node, ">=", [value, low])
        below = self.apply(node, "<=", [value, high])
        return self.negated(node, self.apply(node, "and", [above, below]))

    def in_(self, node: exp.In) -> Expr | None:
        if not node.expressions:
            return self.refuse(node, "a list of values after IN", "something else", "write IN (1, 2, 3)")
        return self.negated(node, self.call(node, "in", node.this, *node.expressions))

    def like(self, node: exp.Like) -> Expr | None:
        return self.negated(node, self.call(node, "like", node.this, node.args["expression"]))

    def case(self, node: exp.Case) -> Expr | None:
        parts = []
        for branch in node.args["ifs"]:
            condition = branch.this
            bound = self.bind(condition) if node.this is None else self.call(branch, "=", node.this, condition)
            parts += [bound, self.bind(branch.args["true"])]
        default = node.args.get("default")
        return self.apply(node, "case", [*parts, Lit(None, Type.NULL) if default is None else self.bind(default)])

    def cast(self, node: exp.Cast) -> Expr | None:
        value = self.bind(node.this)
        want = type_of_cast(node.to, offset_of(node, self.at), self.report)
        if value is None or want is None:
            return None
        try:
            made = cast(value, want)
        except MismatchError as problem:
            self.report.mismatch(offset_of(node, self.at), problem)
            return None
        return None if self.no_time(node, value, made) else made

    def no_time(self, node: exp.Expr, written: Expr, made: Expr) -> bool:
        """A constant text that must be a time, but is none: always a slip of the pen."""
        lost = isinstance(made, Lit) and made.type is Type.TIMESTAMP and made.value is None
        if lost and isinstance(written, Lit) and written.value is not None:
            self.refuse(node, "a text that spells a TIMESTAMP", f"'{written.value}'", "write '2026-01-31 08:00:00'")
            return True
        return False

    def interval(self, node: exp.Interval) -> Expr | None:
        unit = node.args.get("unit")
        number = node.this
        text = str(number.this) if isinstance(number, exp.Literal) else ""
        size = text.removeprefix("-")
        try:
            micros = parse_duration(f"{size} {unit.name}" if unit is not None else size)
        except (ValueError, OverflowError, AttributeError):
            micros = 1 << 63
        if micros < 1 << 62:
            return Lit(micros if size == text else -micros, Type.INTERVAL)
        remedy = "write INTERVAL 10 MINUTES or INTERVAL '5 minutes'"
        return self.refuse(node, "an interval in weeks, days, hours, minutes or seconds", f"'{text}'", remedy)

    def function(self, node: exp.Anonymous) -> Expr | None:
        name = str(node.name).lower()
        if is_aggregate(node):
            return self.aggregate(node)
        if name in _WINDOWS:
            return self.refuse(node, "a value", f"{name}(…) in {self.place}", "write it in GROUP BY")
        name = SYNONYMS.get(name, name)
        if name == "if":
            return self.if_(node)
        if name == "nullif":
            return self.nullif(node)
        known = FUNCTIONS.get(name)
        if known is None or known.operator:
            names = [f for f, entry in FUNCTIONS.items() if not entry.operator]
            return self.refuse(node, "a function", f"'{name}'", nearest(name, [*names, *NAMES, *SYNONYMS], "functions"))
        return self.call(node, name, *node.expressions)

    def if_(self, node: exp.Anonymous) -> Expr | None:
        if len(node.expressions) != 3:
            return self.refuse(node, "3 arguments of if", str(len(node.expressions)), "write if(condition, then, else)")
        return self.call(node, "case", *node.expressions)

    def nullif(self, node: exp.Anonymous) -> Expr | None:
        if len(node.expressions) != 2:
            return self.refuse(node, "2 arguments of nullif", str(len(node.expressions)), "write nullif(a, b)")
        left, right = map(self.bind, node.expressions)
        same = self.apply(node, "=", [left, right])
        return self.apply(node, "case", [same, Lit(None, Type.NULL), left])

    def aggregate(self, node: exp.Anonymous) -> Expr | None:
        nested = self.place == "an aggregate"
        remedy = "aggregate columns of single rows" if nested else "write it in SELECT or HAVING"
        return self.refuse(node, f"no aggregate in {self.place}", f"{str(node.name).lower()}(…)", remedy)


_METHODS: dict[type[exp.Expr], str] = {
    exp.Column: "column",
    exp.Star: "star",
    exp.Literal: "literal",
    exp.Concat: "adjacent",
    exp.And: "connected",
    exp.Or: "connected",
    exp.Boolean: "boolean",
    exp.Null: "null",
    exp.Neg: "negative",
    exp.Not: "not_",
    exp.Is: "is_",
    exp.Between: "between",
    exp.In: "in_",
    exp.Like: "like",
    exp.Case: "case",
    exp.Cast: "cast",
    exp.Interval: "interval",
    exp.Anonymous: "function",
}
"""By name, so that a subclass can give a node another meaning."""
