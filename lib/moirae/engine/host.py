"""The bucketed host: runs all queries of an operator over one bucket of its keys.

Rows wait here until the watermark has passed them and are then released, once, in (time, position) order; kernels never
see disorder, and the order of arrival cannot change an answer. Stateless queries do not wait.

State in, rows in; state out, events out. Where the bytes are kept and who calls is not its business: the streaming
job, the replay of a chunk and a run in process all call `advance`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moirae.engine.blob import pack_sections, unpack_sections
from moirae.engine.compile import CompiledQuery, compile_query
from moirae.engine.keys import KeyTable, key_columns, key_text
from moirae.plan import Operator
from moirae.ports.kernel import Rows

Events = dict[str, pa.Table]


@dataclass(frozen=True, slots=True)
class BucketState:
    keys: KeyTable
    waiting: pa.Table
    kernels: dict[str, Any]


class BucketHost:
    """One operator, compiled. Cheap to make, safe to share between buckets: it holds no state."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.time = operator.stream.time
        compiled = [compile_query(query) for query in operator.queries]
        self._stateless = [query for query in compiled if query.kernel is None]
        self._stateful = {query.query.state_key: query for query in compiled if query.kernel is not None}
        fields = [pa.field(name, operator.stream.schema[name].arrow) for name in operator.columns]
        self.schema = pa.schema([*fields, pa.field("_pos", pa.int64())])

    def start(self) -> BucketState:
        kernels = {name: query.kernel.start() for name, query in self._stateful.items() if query.kernel}
        return BucketState(KeyTable.start(self.operator.keys), self.schema.empty_table(), kernels)

    def advance(self, state: BucketState, rows: pa.Table, watermark: int) -> tuple[BucketState, Events]:
        """Take new rows (columns of `schema`, none of them late), release what the watermark has passed."""
        rows = rows.select(self.schema.names)
        events = {query.query.name: query.select_rows(rows, self.time) for query in self._stateless}
        if not self._stateful:
            return state, events
        waiting = pa.concat_tables([state.waiting, rows]) if rows.num_rows else state.waiting
        released, waiting = self._release(waiting, watermark)
        state, found = self._run(replace(state, waiting=waiting), released, watermark)
        return self._forget_idle_keys(state), events | found

    def _release(self, waiting: pa.Table, watermark: int) -> tuple[pa.Table, pa.Table]:
        at = _micros(waiting[self.time])
        ready = at < watermark
        if not ready.any():
            return self.schema.empty_table(), waiting
        due = waiting if ready.all() else waiting.filter(pa.array(ready))
        due_at, pos = at[ready], due["_pos"].to_numpy()
        if not _in_order(due_at, pos):
            due = due.take(pa.array(np.lexsort((pos, due_at))))
        rest = self.schema.empty_table() if ready.all() else waiting.filter(pa.array(~ready)).combine_chunks()
        return due.combine_chunks(), rest

    def _run(self, state: BucketState, released: pa.Table, watermark: int) -> tuple[BucketState, Events]:
        columns = key_columns(self.operator.keys, released)
        keys, ids = state.keys.intern(key_text(columns, released.num_rows), columns)
        all_rows = Rows(ids, _micros(released[self.time]), released["_pos"].to_numpy(), released)
        events: Events = {}
        kernels = {}
        for name, query in self._stateful.items():
            assert query.kernel is not None
            rows = _where(query, all_rows)
            before = state.kernels.get(name) or query.kernel.start()
            kernels[name], output = query.kernel.advance(before, rows, len(keys), watermark)
            events[query.query.name] = query.select_output(output, keys)
        return BucketState(keys, state.waiting, kernels), events

    def _forget_idle_keys(self, state: BucketState) -> BucketState:
        """Keys no kernel needs go once they are the greater part: work stays proportional to what is alive."""
        live = np.zeros(len(state.keys), np.bool_)
        for name, query in self._stateful.items():
            assert query.kernel is not None
            live |= query.kernel.live_keys(state.kernels[name], len(live))
        if live.sum() * 2 > len(live):
            return state
        keys, new_ids = state.keys.keep(live)
        kernels = {}
        for name, query in self._stateful.items():
            assert query.kernel is not None
            kernels[name] = query.kernel.rekey(state.kernels[name], new_ids)
        return BucketState(keys, state.waiting, kernels)

    def dump(self, state: BucketState) -> bytes:
        columns = dict(zip(state.keys.columns.column_names, state.keys.columns.columns, strict=True))
        sections = {"keys": pa.table({"_text": state.keys.text, **columns}), "waiting": state.waiting}
        for name, query in self._stateful.items():
            assert query.kernel is not None
            sections[f"query {name}"] = query.kernel.dump(state.kernels[name])
        return pack_sections(sections)

    def load(self, blob: bytes | None) -> BucketState:
        """The state of these bytes; a query they do not know starts empty, one that is gone is dropped."""
        state = self.start()
        if blob is None:
            return state
        sections = unpack_sections(blob)
        text = sections["keys"]["_text"].combine_chunks()
        keys = KeyTable(text, sections["keys"].drop_columns(["_text"]))
        kernels = dict(state.kernels)
        for name, query in self._stateful.items():
            if (table := sections.get(f"query {name}")) is not None and query.kernel is not None:
                kernels[name] = query.kernel.load(table)
        return BucketState(keys, self._widen(sections["waiting"]), kernels)

    def _widen(self, waiting: pa.Table) -> pa.Table:
        """Waiting rows in today's columns: one a new query reads is unknown for rows that waited before it came."""
        arrays = [
            waiting[field.name] if field.name in waiting.column_names else pa.nulls(waiting.num_rows, field.type)
            for field in self.schema
        ]
        return pa.table(arrays, schema=self.schema)


def _where(query: CompiledQuery, rows: Rows) -> Rows:
    mask = query.wanted(rows.columns)
    if mask is None:
        return rows
    keep = np.asarray(mask)
    return Rows(rows.key[keep], rows.at[keep], rows.pos[keep], rows.columns.filter(mask))


def _micros(times: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    array: npt.NDArray[np.int64] = times.cast(pa.int64()).to_numpy()
    return array


def _in_order(at: npt.NDArray[np.int64], pos: npt.NDArray[np.int64]) -> bool:
    step = np.diff(at)
    return bool(((step > 0) | ((step == 0) & (np.diff(pos) >= 0))).all())


def sort_events(events: pa.Table) -> pa.Table:
    """Events in the order people and tests read them."""
    return events.take(pc.sort_indices(events, [("at", "ascending"), ("eid", "ascending")]))


__all__ = ["BucketHost", "BucketState", "sort_events"]
