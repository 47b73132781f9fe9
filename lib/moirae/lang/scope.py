"""Names in sight of an expression: the relation's columns, and for a recall the event's columns as parameters."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from moirae.lang.source import Report, nearest
from moirae.model.expr import Col, Expr, Param
from moirae.model.schema import Schema


@dataclass(frozen=True, slots=True)
class Scope:
    """`names` are what the relation may be called before a dot; `event` likewise for the event of a recall."""

    relation: str
    schema: Schema
    names: tuple[str, ...]
    event: str = ""
    event_schema: Schema | None = None

    def resolve(self, node: exp.Column, at: int, report: Report) -> Expr | None:
        """The column a name stands for; unknown names are reported."""
        name, table = node.name.lower(), node.table.lower()
        if node.args.get("db") or node.args.get("catalog"):
            report.add(
                at, "a column, or a relation and a column", f"'{node.table}.{name}' and more", "leave one part out"
            )
            return None
        if self.event_schema is not None and table == self.event:
            if name in self.event_schema:
                return Param(name, self.event_schema[name])
            report.add(
                at, f"a column of the event '{table}'", f"'{name}'", nearest(name, self.event_schema.names, "columns")
            )
            return None
        if table and table not in self.names:
            known = [self.names[-1], *([self.event] if self.event else [])]
            report.add(at, f"one of the relations {', '.join(known)}", f"'{table}'", nearest(table, known, "relations"))
            return None
        if name in self.schema:
            return Col(name, self.schema[name])
        report.add(at, f"a column of '{self.relation}'", f"'{name}'", self._remedy(name))
        return None

    def _remedy(self, name: str) -> str:
        remedy = nearest(name, self.schema.names, "columns")
        if self.event_schema is not None and name in self.event_schema and not remedy.startswith("write"):
            return f"write '{self.event}.{name}' for the event's column"
        return remedy
