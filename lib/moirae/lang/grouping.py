"""Expressions above a GROUP BY: they read grouping keys, aggregates and the window's bounds, never single rows.

Equal aggregates are computed once, however often they are written.
"""

from __future__ import annotations

from sqlglot import exp

from moirae.lang.aggregates import NAMES, has_aggregate, result_type
from moirae.lang.expressions import Expressions
from moirae.lang.naming import distinct, words
from moirae.lang.scope import Scope
from moirae.lang.source import Report, offset_of
from moirae.model.expr import Col, Expr, Lit
from moirae.model.query import Aggregate, Output, Window
from moirae.model.rules import MismatchError
from moirae.model.schema import Type
from moirae.model.show import show

BOUNDS = {"start": "window_start", "end": "window_end"}


class Group:
    """What a GROUP BY gives to the expressions above it; aggregates are added as they are met."""

    def __init__(self, window: Window | None, keys: tuple[Output, ...]) -> None:
        self.window, self.keys = window, keys
        self.aggregates: list[Aggregate] = []

    def key(self, expr: Expr) -> Col | None:
        for output in self.keys:
            if output.expr == expr:
                return Col(output.name, expr.type)
        return None

    def aggregate(self, function: str, argument: Expr | None, type_: Type) -> Col:
        """The column of an aggregate. Its name comes from what it computes, not from how it was spelled."""
        for known in self.aggregates:
            if (known.function, known.argument) == (function, argument):
                return Col(known.name, known.type)
        spelled = words(function if argument is None else f"{function} {show(argument)}")
        taken = {*BOUNDS.values(), *(key.name for key in self.keys), *(known.name for known in self.aggregates)}
        made = Aggregate(distinct(spelled, taken), function, argument, type_)
        self.aggregates.append(made)
        return Col(made.name, type_)


class Grouped(Expressions):
    """SELECT and HAVING of a grouped query. `aliases` are the named outputs HAVING may use, as in Spark."""

    def __init__(self, scope: Scope, report: Report, at: int, place: str, group: Group) -> None:
        super().__init__(scope, report, at, place)
        self.group = group
        self.aliases: dict[str, Expr] = {}

    def bind(self, node: exp.Expr) -> Expr | None:
        if not has_aggregate(node):
            quiet = Expressions(self.scope, self.report.quiet(), self.at, self.place).bind(node)
            key = self.group.key(quiet) if quiet is not None else None
            if key is not None:
                return key
        return super().bind(node)

    def column(self, node: exp.Column) -> Expr | None:
        name, table = node.name.lower(), node.table.lower()
        if self.group.window and table == "window" and table not in self.scope.names:
            return self.bound_of_window(node, name)
        if self.group.window and not table and name == "window" and name not in self.scope.schema:
            return self.refuse(node, "window.start or window.end", "'window'", "select its two ends")
        if not table and name in self.aliases and name not in self.scope.schema:
            return self.aliases[name]
        found = super().column(node)
        if not isinstance(found, Col):
            return found  # a parameter of the event is one value for the whole answer
        remedy = f"add it to GROUP BY, or use an aggregate such as max({name})"
        return self.refuse(node, f"a grouped column in {self.place}", f"'{name}'", remedy)

    def bound_of_window(self, node: exp.Column, name: str) -> Expr | None:
        if name in BOUNDS:
            return Col(BOUNDS[name], Type.TIMESTAMP)
        return self.refuse(node, "window.start or window.end", f"'window.{name}'", "write window.start or window.end")

    def aggregate(self, node: exp.Anonymous) -> Expr | None:
        function = NAMES[str(node.name).lower()]
        arguments = node.expressions
        if len(arguments) != 1:
            return self.refuse(node, f"one argument of {function}", str(len(arguments)), f"write {function}(column)")
        argument = arguments[0]
        if isinstance(argument, exp.Star):
            if function != "count":
                return self.star(argument)
            return self.group.aggregate("count", None, Type.BIGINT)
        if isinstance(argument, exp.Distinct):
            return self.distinct(node, function, argument)
        return self.over_rows(node, function, argument)

    def distinct(self, node: exp.Anonymous, function: str, argument: exp.Distinct) -> Expr | None:
        if function in ("min", "max") and len(argument.expressions) == 1:
            return self.over_rows(node, function, argument.expressions[0])
        if function != "count" or len(argument.expressions) != 1:
            remedy = "only count(DISTINCT column) is supported; join several columns with concat"
            return self.refuse(node, "count(DISTINCT column)", f"{function}(DISTINCT …)", remedy)
        return self.over_rows(node, "count_distinct", argument.expressions[0])

    def over_rows(self, node: exp.Expr, function: str, argument: exp.Expr) -> Expr | None:
        rows = Expressions(self.scope, self.report, self.at, "an aggregate")
        bound = rows.bind(argument)
        if bound is None:
            return None
        if function == "count" and isinstance(bound, Lit) and bound.value is not None:
            return self.group.aggregate("count", None, Type.BIGINT)
        try:
            type_ = result_type(function, bound.type, windowed=self.group.window is not None)
        except MismatchError as problem:
            self.report.mismatch(offset_of(node, self.at), problem)
            return None
        if bound.type is Type.NULL:
            return self.refuse(argument, "a typed value", "NULL", "write CAST(NULL AS DOUBLE)")
        return self.group.aggregate(function, bound, type_)
