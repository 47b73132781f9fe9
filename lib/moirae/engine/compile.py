"""From an event's definition to what the host runs: a filter in front, a kernel, and the projection behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moirae.engine.keys import KeyTable
from moirae.model.evaluate import evaluate
from moirae.model.hashing import hex_ids
from moirae.model.query import EventDef
from moirae.model.schema import Type
from moirae.plan import DeployedEvent
from moirae.ports.kernel import Kernel, Output
from moirae.windows import HoppingAggregate

_EMPTY_KEY = "\x1e"


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query ready to run. Without a kernel it is stateless and sees rows as they arrive."""

    query: DeployedEvent
    kernel: Kernel | None

    @property
    def definition(self) -> EventDef:
        return self.query.definition

    def wanted(self, rows: pa.Table) -> pa.Array | None:
        """Which rows pass the WHERE clause; None: all do."""
        where = self.definition.where
        return None if where is None else evaluate(where, rows).fill_null(False)

    def select_rows(self, rows: pa.Table, time: str) -> pa.Table:
        """Events of a stateless query: a row is its own event, known by its position in the source."""
        mask = self.wanted(rows)
        rows = rows if mask is None else rows.filter(mask)
        identity = np.asarray(rows["_pos"].combine_chunks() if rows.num_rows else rows["_pos"])
        key = pa.array([""], pa.string()).take(pa.array(np.zeros(rows.num_rows, np.int8)))
        return self._events(rows, rows[time].combine_chunks(), key, identity)

    def select_output(self, output: Output, keys: KeyTable) -> pa.Table:
        """Events of a kernel's output, the partition key's columns put beside it."""
        ids = pa.array(output.key)
        columns = output.columns
        for key, values in zip(self.definition.keys, keys.columns.columns, strict=True):
            columns = columns.append_column(key.name, values.combine_chunks().take(ids))
        at = pa.array(output.at).cast(pa.timestamp("us")).cast(Type.TIMESTAMP.arrow)
        text, identity = keys.text.take(ids), output.identity
        if self.definition.having is not None:
            mask = evaluate(self.definition.having, columns).fill_null(False)
            columns, at, text = columns.filter(mask), at.filter(mask), text.filter(mask)
            identity = identity[np.asarray(mask)]
        return self._events(columns, at, text, identity)

    def _events(self, columns: pa.Table, at: pa.Array, key: pa.Array, identity: np.ndarray) -> pa.Table:
        own = {output.name: evaluate(output.expr, columns) for output in self.definition.select}
        made = {"eid": self._eids(key, identity), "at": at}
        arrays = [{**made, **own}[name] for name in self.definition.schema.names]
        return pa.table(arrays, schema=self.definition.schema.arrow)

    def _eids(self, key: pa.Array, identity: np.ndarray) -> pa.Array:
        prefix = f"{self.query.name}{_EMPTY_KEY}{self.query.version}{_EMPTY_KEY}"
        ids = pa.array(identity).cast(pa.string())
        return hex_ids(pa.compute.binary_join_element_wise(pa.scalar(prefix), key, ids, _EMPTY_KEY))


def compile_query(query: DeployedEvent) -> CompiledQuery:
    window = query.definition.window
    kernel = None if window is None else HoppingAggregate(window, query.definition.aggregates)
    return CompiledQuery(query, kernel)
