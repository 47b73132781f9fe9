"""Recall tasks and their answers. Invariant: a task's state and the revisions it led to are written together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from sqlalchemy import Connection, bindparam, func, select, update

from moirae.adapters.catalog.section import Section, as_rows, insert_new, lock_counter, set_counter, slices
from moirae.adapters.catalog.tables import revisions as revisions_table
from moirae.adapters.catalog.tables import tasks as table
from moirae.ports.catalog import UNFINISHED, Eid, NewTask, Revision, Task, TaskState, TurnSaved

TICKETS = 100  # every task starts with an equal share of the turns
_REVISIONS = "revisions"
_FIELDS = [column for column in revisions_table.c if column.name != "number"]

Key = tuple[str, str, int]


class TasksSection(Section):
    def pending_tasks(self, limit: int) -> list[Task]:
        query = select(table).where(table.c.state.in_(UNFINISHED)).limit(limit)
        order = (table.c.event_at.desc(), table.c.eid, table.c.recall, table.c.recall_version)
        with self.reading() as connection:
            return [Task(**row._mapping) for row in connection.execute(query.order_by(*order))]

    def save_turns(self, turns: Sequence[TurnSaved]) -> int:
        with self.writing() as connection:
            unfinished = _lock_unfinished(connection, turns)
            counted = [turn for turn in turns if _key(turn) in unfinished]
            _update_tasks(connection, counted)
            _insert_revisions(connection, [made for turn in counted for made in turn.revisions])
        return len(counted)

    def revisions(self, eid: Eid, recall: str | None = None) -> list[Revision]:
        made = revisions_table.c
        query = select(*_FIELDS).where(made.eid == eid).order_by(made.recall, made.recall_version, made.seq)
        if recall is not None:
            query = query.where(made.recall == recall)
        with self.reading() as connection:
            return [Revision(**row._mapping) for row in connection.execute(query)]

    def revisions_after(self, number: int, limit: int) -> list[tuple[int, Revision]]:
        made = revisions_table.c.number
        query = select(revisions_table).where(made > number).order_by(made).limit(limit)
        with self.reading() as connection:
            found = [dict(row._mapping) for row in connection.execute(query)]
        return [(row.pop("number"), Revision(**row)) for row in found]

    def latest_answers(self, eid: Eid) -> list[Revision]:
        made = revisions_table.c
        newest = func.row_number().over(
            partition_by=made.recall, order_by=(made.recall_version.desc(), made.seq.desc())
        )
        ranked = select(revisions_table, newest.label("age")).where(made.eid == eid).subquery()
        columns = [ranked.c[column.name] for column in _FIELDS]
        with self.reading() as connection:
            found = connection.execute(select(*columns).where(ranked.c.age == 1).order_by(ranked.c.recall))
            return [Revision(**row._mapping) for row in found]

    def task_counts(self) -> dict[TaskState, int]:
        counts: dict[TaskState, int] = dict.fromkeys(get_args(TaskState), 0)
        with self.reading() as connection:
            for state, count in connection.execute(select(table.c.state, func.count()).group_by(table.c.state)):
                counts[state] = count
        return counts


def insert_tasks(connection: Connection, tasks: Sequence[NewTask], now: int) -> None:
    """A task that exists keeps what it has done: the same event seen again asks nothing new."""
    blank = {"covered_from": None, "covered_to": None, "partial": None, "turns_done": 0, "error": ""}
    rows = as_rows(tasks, state="pending", tickets=TICKETS, created_at=now, updated_at=now, **blank)
    insert_new(connection, table, rows)


def _insert_revisions(connection: Connection, made: Sequence[Revision]) -> None:
    """The counter stays locked until they are committed, so numbers are seen in their order."""
    if not made:
        return
    last = lock_counter(connection, _REVISIONS)
    rows = [row | {"number": last + place} for place, row in enumerate(as_rows(made), start=1)]
    insert_new(connection, revisions_table, rows)
    set_counter(connection, _REVISIONS, last + len(rows))


def _key(turn: TurnSaved) -> Key:
    return (turn.eid, turn.recall, turn.recall_version)


def _lock_unfinished(connection: Connection, turns: Sequence[TurnSaved]) -> set[Key]:
    """Tasks that may still change: whoever cancelled one is not overruled by a turn that was under way."""
    found: set[Key] = set()
    for some in slices(sorted({turn.eid for turn in turns})):
        query = select(table.c.eid, table.c.recall, table.c.recall_version).where(
            table.c.eid.in_(some), table.c.state.in_(UNFINISHED)
        )
        keys = connection.execute(query.order_by(*table.primary_key).with_for_update())
        found.update((row.eid, row.recall, row.recall_version) for row in keys)
    return found


def _update_tasks(connection: Connection, turns: Sequence[TurnSaved]) -> None:
    if not turns:
        return
    names = ("state", "turns_done", "covered_from", "covered_to", "partial", "updated_at", "error")
    keys = [{"of_eid": turn.eid, "of_recall": turn.recall, "of_version": turn.recall_version} for turn in turns]
    rows = [key | {name: getattr(turn, name) for name in names} for key, turn in zip(keys, turns, strict=True)]
    statement = update(table).where(
        table.c.eid == bindparam("of_eid"),
        table.c.recall == bindparam("of_recall"),
        table.c.recall_version == bindparam("of_version"),
    )
    connection.execute(statement, rows)
