"""Recalls without a platform: rows in memory cut into chunks of event time, every event answered turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from moirae.model.chunk import ChunkSpan
from moirae.model.query import EventDef, Pack, RecallDef
from moirae.model.schema import Type
from moirae.recall.answer import asked_extent, make_answer
from moirae.recall.chunk_index import IndexedChunk
from moirae.recall.chunk_kernel import Asked, answer_indexed, index_chunk
from moirae.recall.partials import Partial, Shape, merge
from moirae.recall.scheduler import Waiting, next_turn
from moirae.recall.turns import chunks_within, plan_turns

_HEAD = [
    ("eid", Type.STRING),
    ("at", Type.TIMESTAMP),
    ("op", Type.STRING),
    ("covered_from", Type.TIMESTAMP),
    ("covered_to", Type.TIMESTAMP),
    ("chunks_done", Type.BIGINT),
    ("complete", Type.BOOLEAN),
]


def recall_tables(
    pack: Pack, events: Mapping[str, pa.Table], archive: Mapping[str, pa.Table], chunk_us: int
) -> dict[str, pa.Table]:
    """The revisions of every recall of the pack, by event and then by turn."""
    times = {stream.name: stream.time for stream in pack.streams}
    definitions = {event.name: event for event in pack.events}
    return {
        recall.name: _revisions(
            recall,
            definitions[recall.event],
            events[recall.event],
            archive[recall.stream],
            times[recall.stream],
            chunk_us,
        )
        for recall in pack.recalls
    }


def revision_schema(recall: RecallDef) -> pa.Schema:
    head = [pa.field(name, type_.arrow) for name, type_ in _HEAD]
    return pa.schema([*head, *recall.schema.arrow])


def cut_chunks(rows: pa.Table, time: str, chunk_us: int) -> dict[str, tuple[ChunkSpan, pa.Table]]:
    """Rows by the multiple of `chunk_us` their time lies in; chunk ids sort by time."""
    at = rows[time].cast(pa.int64()).to_numpy()
    number = at // chunk_us
    chunks = {}
    for each in np.unique(number):
        part = rows.filter(pa.array(number == each))
        times = at[number == each]
        name = f"{each * chunk_us:+020d}"
        chunks[name] = (ChunkSpan(name, int(times.min()), int(times.max()), part.num_rows), part)
    return chunks


def _revisions(
    recall: RecallDef, event: EventDef, events: pa.Table, rows: pa.Table, time: str, chunk_us: int
) -> pa.Table:
    chunks = cut_chunks(rows, time, chunk_us)
    spans = [span for span, _ in chunks.values()]
    params = _params(event, events)
    waiting = {}
    for order, (eid, at) in enumerate(_ids(events)):
        oldest = None if recall.over_us is None else at - recall.over_us
        waiting[eid] = Waiting(eid, recall.name, at, order, plan_turns(spans, oldest, at))
    partials = {eid: Partial(Shape.of(recall)) for eid in waiting}
    indexes: dict[str, IndexedChunk] = {}
    answers: dict[str, list[pa.Table]] = {eid: [] for eid in waiting}
    for eid, task in waiting.items():
        if not task.turns:
            answers[eid].append(_answer(recall, task, spans, partials[eid], params[eid]))
    while (batch := next_turn(waiting.values())) is not None:
        asked = [Asked(t.eid, t.event_at, params[t.eid], t.turn.lo, t.turn.hi) for t in batch.tasks]
        for chunk_id in batch.chunk_ids:
            if chunk_id not in indexes:
                indexes[chunk_id] = index_chunk(recall, chunks[chunk_id][1], time)
            for task, part in zip(batch.tasks, answer_indexed(recall, indexes[chunk_id], asked), strict=True):
                partials[task.eid] = merge(partials[task.eid], part)
        for task in batch.tasks:
            done = Waiting(task.eid, task.recall, task.event_at, task.created_at, task.turns, task.turns_done + 1)
            waiting[task.eid] = done
            answers[task.eid].append(_answer(recall, done, spans, partials[task.eid], params[task.eid]))
    tables = [table for revisions in answers.values() for table in revisions]
    return pa.concat_tables(tables) if tables else revision_schema(recall).empty_table()


def _answer(
    recall: RecallDef, task: Waiting, spans: Sequence[ChunkSpan], partial: Partial, params: Mapping[str, Any]
) -> pa.Table:
    """One revision: the task's answer after the turns it has done."""
    asked_from, asked_to = asked_extent(task.turns) if task.turns else (task.event_at, task.event_at)
    covered_from = task.turns[task.turns_done - 1].lo if task.turns else task.event_at
    own = make_answer(recall, partial, covered_from, task.event_at, asked_from, asked_to, params)
    head = (
        task.eid,
        task.event_at,
        "insert" if task.turns_done <= 1 else "update",
        covered_from,
        task.event_at,
        chunks_within(spans, covered_from, task.event_at),
        task.turns_done == len(task.turns),
    )
    columns = [pa.array([value] * own.num_rows, type_.arrow) for value, (_, type_) in zip(head, _HEAD, strict=True)]
    return pa.table([*columns, *own.columns], schema=revision_schema(recall))


def _ids(events: pa.Table) -> list[tuple[str, int]]:
    return list(zip(events["eid"].to_pylist(), events["at"].cast(pa.int64()).to_pylist(), strict=True))


def _params(event: EventDef, events: pa.Table) -> dict[str, dict[str, Any]]:
    """Each event's columns by its eid; times as microseconds."""
    columns = {
        column.name: events[column.name].cast(pa.int64()).to_pylist()
        if column.type is Type.TIMESTAMP
        else events[column.name].to_pylist()
        for column in event.schema
    }
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return {row["eid"]: row for row in rows}
