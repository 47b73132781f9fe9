"""What a pack says once it is bound: every name resolved, every expression typed.

The language produces these values, the planner turns them into kernels, `explain` prints them. They hold no text
positions and no state, and two equal definitions compare equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from moirae.model.expr import Expr
from moirae.model.schema import Column, Schema, Type

AGGREGATES = ("count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "variance", "var_pop", "count_distinct")


@dataclass(frozen=True, slots=True)
class StreamDef:
    """An input stream: rows of a schema, in the order of one time column."""

    name: str
    schema: Schema
    time: str  # the ORDER BY column, TIMESTAMP
    lateness_us: int = 0
    source: str = "landing"
    source_name: str = ""
    valid_us: int | None = None  # lifetime of a row, VALID FOR; None: a point
    chunk_size: int | None = None  # bytes; None takes the administrator's setting
    chunk_age_us: int | None = None
    recent_chunks: int | None = None
    retention_us: int | None = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TableDef:
    """A static table, read whole from a file."""

    name: str
    schema: Schema
    path: str
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Output:
    """One output column and what it is computed from."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate call; its value is the column `name` for the expressions above it."""

    name: str
    function: str  # one of AGGREGATES
    argument: Expr | None  # None: count(*)
    type: Type


@dataclass(frozen=True, slots=True)
class Window:
    """`window(at, size[, hop])`; [start, end) with starts at multiples of hop since the epoch."""

    size_us: int
    hop_us: int


@dataclass(frozen=True, slots=True)
class EventDef:
    """An event query over one stream.

    Without a window it is a filter and projection: `select` and `where` read the stream's columns. With one,
    `keys` are evaluated on rows; `having` and `select` read the keys by name, the aggregates by name, and
    `window_start` and `window_end`.
    """

    name: str
    stream: str
    where: Expr | None
    window: Window | None
    keys: tuple[Output, ...]
    aggregates: tuple[Aggregate, ...]
    having: Expr | None
    select: tuple[Output, ...]
    text: str = field(default="", compare=False)

    @property
    def schema(self) -> Schema:
        """`eid`, `at`, then the query's own columns (its own `eid` and `at` replace the made ones)."""
        own = tuple(Column(output.name, output.expr.type) for output in self.select)
        made = (Column("eid", Type.STRING), Column("at", Type.TIMESTAMP))
        return Schema(tuple(c for c in made if c.name not in {o.name for o in own}) + own)


@dataclass(frozen=True, slots=True)
class RecallDef:
    """A question to history, asked for every event: aggregates over the rows of one archive.

    `where`, `keys` and the aggregates' arguments read the archive's columns and the event's as `Param`s. Rows count if
    e.at - over_us <= h.at < e.at (over_us None: all rows before the event).
    """

    name: str
    event: str
    stream: str
    over_us: int | None
    report_every_us: int
    where: Expr | None
    keys: tuple[Output, ...]
    aggregates: tuple[Aggregate, ...]
    having: Expr | None
    select: tuple[Output, ...]
    pause_every: int | None = None
    patience_us: int | None = None
    text: str = field(default="", compare=False)

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Column(output.name, output.expr.type) for output in self.select))


@dataclass(frozen=True, slots=True)
class Pack:
    """All statements of a text, in its order within each kind. `result` is a bare SELECT, if there was one."""

    streams: tuple[StreamDef, ...] = ()
    tables: tuple[TableDef, ...] = ()
    events: tuple[EventDef, ...] = ()
    recalls: tuple[RecallDef, ...] = ()
    result: EventDef | None = None
