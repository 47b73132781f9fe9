"""One chunk, one recall, many tasks: each task's partial over its own slice of the chunk.

Conjuncts that equate an expression of the row with one of the event find the rows by the index; the others are
evaluated on the rows found, all tasks together, with the event's values as columns. Tasks whose rows overlap share the
work (`sharing`). Nothing is read, kept or changed besides the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moirae.model.evaluate import evaluate
from moirae.model.expr import Call, Expr, columns_of, conjuncts, params_of
from moirae.model.query import RecallDef
from moirae.recall.chunk_index import IndexedChunk
from moirae.recall.params import as_columns, column_name, param_table, types_of
from moirae.recall.partials import Partial, Shape
from moirae.recall.reducers import reduce_rows
from moirae.recall.sharing import chain

Ints = npt.NDArray[np.int64]

MOST_KEYS = 2  # two codes of 31 bits fit in one; a third equality is tested on the rows found
MOST_ROWS = 2_000_000  # gathered at once, which bounds memory
_OWNER = "e. task"  # a name neither a row nor an event can have


@dataclass(frozen=True, slots=True)
class Asked:
    """A task's share of a turn: rows with lo <= at < hi; `params` are the event's columns."""

    eid: str
    event_at: int
    params: Mapping[str, Any]
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How a recall reads a chunk: `keys` of the row equal `wanted` of the event, and `rest` holds."""

    shape: Shape
    keys: tuple[Expr, ...]
    wanted: tuple[Expr, ...]
    rest: tuple[Expr, ...]
    groups: tuple[Expr, ...]
    arguments: tuple[Expr | None, ...]

    @property
    def on_rows(self) -> tuple[Expr, ...]:
        """What is evaluated on the rows found."""
        return (*self.rest, *self.groups, *(argument for argument in self.arguments if argument))

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The archive's columns it reads besides the index."""
        return tuple(dict.fromkeys(name for expr in self.on_rows for name in columns_of(expr)))


@lru_cache(maxsize=256)
def plan_recall(recall: RecallDef) -> Plan:
    """Split a recall into what the index answers and what is left."""
    equal = [(part, sides) for part in conjuncts(recall.where) if (sides := _equality(part))][:MOST_KEYS]
    used = {part for part, _ in equal}
    return Plan(
        Shape.of(recall),
        tuple(row for _, (row, _) in equal),
        tuple(event for _, (_, event) in equal),
        tuple(part for part in conjuncts(recall.where) if part not in used),
        tuple(key.expr for key in recall.keys),
        tuple(aggregate.argument for aggregate in recall.aggregates),
    )


def _equality(part: Expr) -> tuple[Expr, Expr] | None:
    """(of the row, of the event) if the conjunct equates the two."""
    if not isinstance(part, Call) or part.function != "=":
        return None
    for row, event in (part.args, part.args[::-1]):
        if columns_of(row) and not params_of(row) and params_of(event) and not columns_of(event):
            return row, event
    return None


def columns_needed(recall: RecallDef, time_column: str) -> tuple[str, ...]:
    """The columns of a chunk that must be read for a recall."""
    plan = plan_recall(recall)
    indexed = (name for key in plan.keys for name in columns_of(key))
    return tuple(dict.fromkeys((time_column, *indexed, *plan.row_columns)))


def index_chunk(recall: RecallDef, rows: pa.Table, time_column: str) -> IndexedChunk:
    """The index a recall wants; keep it as long as the chunk is in use."""
    return IndexedChunk.of(rows, plan_recall(recall).keys, time_column)


def answer_slice(recall: RecallDef, rows: pa.Table, time_column: str, tasks: Sequence[Asked]) -> list[Partial]:
    """A partial for each task, from rows that are used once."""
    return answer_indexed(recall, index_chunk(recall, rows, time_column), tasks)


def answer_indexed(recall: RecallDef, chunk: IndexedChunk, tasks: Sequence[Asked]) -> list[Partial]:
    """A partial for each task, from rows indexed by `plan_recall(recall).keys`."""
    if not tasks:
        return []
    plan = plan_recall(recall)
    if chunk.keys != plan.keys:
        raise ValueError(f"an index by {plan.keys} expected, but found one by {chunk.keys}; use index_chunk")
    params = param_table(types_of((*plan.wanted, *plan.on_rows)), [task.params for task in tasks])
    wanted = [evaluate(as_columns(expr), params) for expr in plan.wanted]
    lo, hi = (np.array(times, np.int64) for times in zip(*((task.lo, task.hi) for task in tasks), strict=True))
    starts, ends = chunk.find(wanted, lo, hi)
    chains = chain(starts, ends, params.select([column_name(name) for name in types_of(plan.on_rows)]))
    added: list[Partial] = []
    for some in _batches(chains.ends - chains.starts):
        asked = params.take(pa.array(chains.chosen[some])) if params.num_columns else params
        added += _answer(plan, chunk.rows, chains.starts[some], chains.ends[some], asked)
    return chains.resolve(added)


def _batches(sizes: Ints) -> Iterator[slice]:
    begin, total = 0, 0
    for place, size in enumerate(sizes.tolist()):
        if total and total + size > MOST_ROWS:
            yield slice(begin, place)
            begin, total = place, 0
        total += size
    yield slice(begin, len(sizes))


def _answer(plan: Plan, rows: pa.Table, starts: Ints, ends: Ints, params: pa.Table) -> list[Partial]:
    table = _gather(plan, rows, starts, ends - starts, params)
    for part in plan.rest:
        table = table.filter(evaluate(as_columns(part), table))  # NULL is not true
    owner = table.column(_OWNER).to_numpy()
    computed = {expr: evaluate(as_columns(expr), table) for expr in (*plan.groups, *plan.arguments) if expr}
    arguments = [computed[expr] if expr else None for expr in plan.arguments]
    return reduce_rows(plan.shape, [computed[expr] for expr in plan.groups], arguments, owner, len(starts))


def _gather(plan: Plan, rows: pa.Table, starts: Ints, sizes: Ints, params: pa.Table) -> pa.Table:
    """The rows of all ranges one after the other, each with the number and the parameters of its task."""
    owner = pa.array(np.repeat(np.arange(len(starts)), sizes))
    columns = {_OWNER: owner}
    if len(starts) == 1:  # one range is not copied
        columns |= {name: rows.column(name).slice(starts[0], sizes[0]) for name in plan.row_columns}
    else:
        before = np.cumsum(sizes) - sizes
        place = pa.array(np.repeat(starts - before, sizes) + np.arange(len(owner)))
        columns |= {name: rows.column(name).take(place) for name in plan.row_columns}
    for name in map(column_name, types_of(plan.on_rows)):
        columns[name] = params.column(name).take(owner)
    return pa.table(columns)
