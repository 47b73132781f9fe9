"""The program of a platform: one operator for each (stream, partition key), hosting every query that shares both.

Queries that need no key (filters) ride along on an operator of their stream, so that rows are moved once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moirae.model.expr import Expr, columns_of
from moirae.model.fingerprint import fingerprint
from moirae.model.query import EventDef, Output, Pack, StreamDef
from moirae.model.show import show


@dataclass(frozen=True, slots=True)
class DeployedEvent:
    """An event query and the version under which it runs; the version is part of its events' ids."""

    definition: EventDef
    version: int

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def state_key(self) -> str:
        """Names the query's state: a changed query never reads the state of the one before it."""
        return f"{self.name}@{self.version}:{fingerprint(self.definition)}"


@dataclass(frozen=True, slots=True)
class Operator:
    """Queries of one stream that share a partition key (none: rows may be spread in any way)."""

    stream: StreamDef
    keys: tuple[Output, ...]
    queries: tuple[DeployedEvent, ...]

    @property
    def name(self) -> str:
        key = ", ".join(show(output.expr) for output in self.keys)
        return f"{self.stream.name}({key})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The stream's columns that some query reads, the time column first."""
        wanted = {name for query in self.queries for name in _columns_read(query.definition)}
        return (self.stream.time, *(n for n in self.stream.schema.names if n in wanted and n != self.stream.time))

    def explain(self) -> str:
        lines = [f"operator {self.name} reads {', '.join(self.columns)}"]
        lines += [f"  {query.name} v{query.version}" for query in self.queries]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that runs, in a stable order."""

    operators: tuple[Operator, ...]

    def explain(self) -> str:
        return "\n".join(operator.explain() for operator in self.operators) or "nothing to run"


def plan_program(pack: Pack, versions: Mapping[str, int] | None = None) -> Program:
    """Group the pack's events into operators. Versions default to 1."""
    streams = {stream.name: stream for stream in pack.streams}
    keyed: dict[tuple[str, tuple[Expr, ...]], list[DeployedEvent]] = {}
    unkeyed: list[DeployedEvent] = []
    for event in (*pack.events, *((pack.result,) if pack.result else ())):
        query = DeployedEvent(event, (versions or {}).get(event.name, 1))
        if event.window is None:
            unkeyed.append(query)
        else:
            keyed.setdefault((event.stream, tuple(key.expr for key in event.keys)), []).append(query)
    for query in unkeyed:
        stream = query.definition.stream
        home = next((where for where in keyed if where[0] == stream), (stream, ()))
        keyed.setdefault(home, []).append(query)
    return Program(
        tuple(
            Operator(streams[stream], tuple(Output(f"k{i}", expr) for i, expr in enumerate(keys)), tuple(queries))
            for (stream, keys), queries in keyed.items()
        )
    )


def _columns_read(definition: EventDef) -> set[str]:
    exprs = [definition.where, *(key.expr for key in definition.keys), *(a.argument for a in definition.aggregates)]
    if definition.window is None:
        exprs += [output.expr for output in definition.select]
    return {name for expr in exprs if expr is not None for name in columns_of(expr)}
