"""The recall manager: brings every task one turn forward, in batches, until history has no more to say.

A task's progress lives on the task board (covered interval, merged partial), so a manager that is killed and started
again goes on where the last saved turn ended, over whatever chunks there are by then. Chunks held back by their check
are not read, and every answer names them.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from moirae.model.chunk import ChunkSpan, span_of
from moirae.model.query import RecallDef, StreamDef
from moirae.model.schema import Type
from moirae.ports.catalog import Catalog, Chunk, LiveEvent, Revision, Task, TurnSaved
from moirae.ports.chunks import ChunkReader
from moirae.recall.answer import make_answer, rows_of
from moirae.recall.chunk_index import IndexedChunk
from moirae.recall.chunk_kernel import Asked, answer_indexed, columns_needed, index_chunk, plan_recall
from moirae.recall.params import types_of
from moirae.recall.partial_codec import dump, load
from moirae.recall.partials import Partial, Shape, merge
from moirae.recall.scheduler import Batch, Waiting, next_turn
from moirae.recall.turns import chunks_within, plan_turns

_MOST_INDEXES = 64
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ActiveRecall:
    definition: RecallDef
    version: int
    stream: StreamDef

    @property
    def time(self) -> str:
        return self.stream.time


@dataclass(slots=True)
class _Work:
    """A task in hand: what the board holds of it, the event's values, and its remaining turns."""

    task: Task
    params: Mapping[str, Any]
    waiting: Waiting
    partial: Partial
    spans: Sequence[ChunkSpan]
    asked_from: int
    seq: int
    reported_at: int | None = None


@dataclass(slots=True)
class RecallManager:
    catalog: Catalog
    reader: ChunkReader
    recalls: Mapping[tuple[str, int], ActiveRecall]
    clock: Callable[[], int]
    batch_size: int = 1000
    _work: dict[tuple[str, str, int], _Work] = field(default_factory=dict)
    _indexes: OrderedDict[tuple[object, ...], IndexedChunk] = field(default_factory=OrderedDict)

    def turn(self) -> int:
        """Take the next turn; how many tasks it served. 0: nothing is waiting."""
        self._drop_what_is_gone()
        self._take_new_tasks()
        batch = next_turn(work.waiting for work in self._work.values())
        if batch is None:
            return 0
        tasks = batch.tasks[: self.batch_size]
        self._answer(replace(batch, tasks=tasks))
        return len(tasks)

    def _drop_what_is_gone(self) -> None:
        """Tasks in hand whose recall was undeployed or changed; whoever takes them up again cancels them."""
        gone = [key for key in self._work if key[1:] not in self.recalls]
        for key in gone:
            del self._work[key]

    def _take_new_tasks(self) -> None:
        chunks: dict[str, list[Chunk]] = {}
        saved = []
        for task in self.catalog.pending_tasks(self.batch_size):
            key = (task.eid, task.recall, task.recall_version)
            if key in self._work:
                continue
            recall = self.recalls.get((task.recall, task.recall_version))
            if recall is None:
                saved.append(_ended(task, "cancelled", self.clock(), "its recall is no longer deployed"))
                continue
            stream = recall.stream.name
            if stream not in chunks:
                chunks[stream] = self.catalog.chunks(stream, ["open", "sealed"])
            work = self._begin(task, recall, chunks[stream])
            if work.waiting.turns:
                self._work[key] = work
            else:
                held = [chunk.id for chunk in self.catalog.chunks(stream, ["held"])]
                saved.append(self._nothing_to_read(work, recall, held))
        if saved:
            self.catalog.save_turns(saved)

    def _begin(self, task: Task, recall: ActiveRecall, chunks: Sequence[Chunk]) -> _Work:
        definition = recall.definition
        upper = task.event_at if task.covered_from is None else task.covered_from
        oldest = None if definition.over_us is None else task.event_at - definition.over_us
        spans = [span for chunk in chunks if (span := span_of(chunk)) is not None]
        turns = plan_turns(spans, oldest, upper)
        shape = Shape.of(definition)
        partial = Partial(shape) if task.partial is None else load(task.partial, shape)
        event = self.catalog.event(task.eid)
        wanted = types_of([*plan_recall(definition).wanted, *plan_recall(definition).on_rows, *_outputs(definition)])
        waiting = Waiting(task.eid, _name(task), task.event_at, task.created_at, turns, 0, task.tickets)
        first = min((span.min_at for span in spans), default=task.event_at)
        asked_from = first if oldest is None else max(oldest, first)
        said = len(self.catalog.revisions(task.eid, task.recall)) if task.turns_done else 0
        return _Work(task, event_params(event, wanted), waiting, partial, spans, asked_from, said)

    def _answer(self, batch: Batch) -> None:
        recall = self.recalls[_recall_of(batch.recall)]
        chunks: dict[str, Chunk] = {chunk.id: chunk for chunk in self.catalog.chunks(recall.stream.name)}
        works = [self._work[waiting.eid, *_recall_of(batch.recall)] for waiting in batch.tasks]
        asked = [
            Asked(work.task.eid, work.task.event_at, work.params, work.waiting.turn.lo, work.waiting.turn.hi)
            for work in works
        ]
        for chunk_id in batch.chunk_ids:
            index = self._index(recall, chunks[chunk_id])
            for work, part in zip(works, answer_indexed(recall.definition, index, asked), strict=True):
                work.partial = merge(work.partial, part)
        held = sorted(chunk.id for chunk in chunks.values() if chunk.state == "held")
        self.catalog.save_turns([self._save(work, recall, held) for work in works])

    def _index(self, recall: ActiveRecall, chunk: Chunk) -> IndexedChunk:
        """The chunk's rows indexed for this recall; sealed chunks never change, the present one has its version."""
        columns = columns_needed(recall.definition, recall.time)
        key = (chunk.id, chunk.generation, chunk.delta_version, columns, plan_recall(recall.definition).keys)
        if key in self._indexes:
            self._indexes.move_to_end(key)
            return self._indexes[key]
        rows = self.reader.read(chunk, columns)
        self._indexes[key] = index_chunk(recall.definition, rows, recall.time)
        while len(self._indexes) > _MOST_INDEXES:
            self._indexes.popitem(last=False)
        return self._indexes[key]

    def _save(self, work: _Work, recall: ActiveRecall, held: Sequence[str]) -> TurnSaved:
        turn = work.waiting.turn
        work.waiting = replace(work.waiting, turns_done=work.waiting.turns_done + 1)
        complete = work.waiting.turns_done == len(work.waiting.turns)
        now = self.clock()
        done = work.task.turns_done + work.waiting.turns_done
        due = work.reported_at is None or now - work.reported_at >= recall.definition.report_every_us
        revisions: tuple[Revision, ...] = ()
        if complete or due:
            revisions = (self._revision(work, recall, turn.lo, complete, held, now),)
            work.reported_at = now
        if complete:
            del self._work[work.task.eid, work.task.recall, work.task.recall_version]
        return TurnSaved(
            eid=work.task.eid,
            recall=work.task.recall,
            recall_version=work.task.recall_version,
            state="complete" if complete else "running",
            turns_done=done,
            covered_from=turn.lo,
            covered_to=work.task.event_at,
            partial=dump(work.partial),
            updated_at=now,
            revisions=revisions,
        )

    def _revision(
        self,
        work: _Work,
        recall: ActiveRecall,
        covered_from: int,
        complete: bool,
        held: Sequence[str],
        now: int,
    ) -> Revision:
        to = work.task.event_at
        table = make_answer(recall.definition, work.partial, covered_from, to, work.asked_from, to, work.params)
        answer = {"rows": rows_of(table)} | ({"held_back": list(held)} if held else {})
        work.seq += 1
        return Revision(
            eid=work.task.eid,
            recall=work.task.recall,
            recall_version=work.task.recall_version,
            seq=work.seq,
            op="insert" if work.seq == 1 else "update",
            event_at=to,
            covered_from=covered_from,
            covered_to=to,
            chunks_done=chunks_within(work.spans, covered_from, to),
            complete=complete,
            answer=json.dumps(answer),
            made_at=now,
        )

    def _nothing_to_read(self, work: _Work, recall: ActiveRecall, held: Sequence[str]) -> TurnSaved:
        """No chunk reaches below the event: the answer over nothing, and complete."""
        at = work.task.event_at
        now = self.clock()
        covered = work.task.covered_from if work.task.covered_from is not None else at
        revision = self._revision(work, recall, covered, True, held, now)
        return replace(_ended(work.task, "complete", now), covered_from=covered, covered_to=at, revisions=(revision,))


def _ended(task: Task, state: str, now: int, error: str = "") -> TurnSaved:
    return TurnSaved(
        eid=task.eid,
        recall=task.recall,
        recall_version=task.recall_version,
        state="complete" if state == "complete" else "cancelled",
        turns_done=task.turns_done,
        covered_from=task.covered_from,
        covered_to=task.covered_to,
        partial=task.partial,
        updated_at=now,
        error=error,
    )


def _name(task: Task) -> str:
    return f"{task.recall}@{task.recall_version}"


def _recall_of(name: str) -> tuple[str, int]:
    recall, _, version = name.rpartition("@")
    return recall, int(version)


def _outputs(definition: RecallDef) -> list[Any]:
    return [*(output.expr for output in definition.select), *([definition.having] if definition.having else [])]


def event_params(event: LiveEvent, types: Mapping[str, Type]) -> dict[str, Any]:
    """The event's columns as values of their types: what a recall's parameters stand for."""
    columns = {"eid": event.eid, "at": event.at, **json.loads(event.columns)}
    return {name: _typed(columns[name], type_) for name, type_ in types.items() if name in columns}


def _typed(value: Any, type_: Type) -> Any:
    if value is None or not isinstance(value, str) or type_ is Type.STRING:
        return value
    if type_ is Type.TIMESTAMP:
        return (datetime.fromisoformat(value) - _EPOCH) // timedelta(microseconds=1)
    return float(value)
