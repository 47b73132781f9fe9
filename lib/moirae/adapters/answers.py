"""The table `answers`: every revision of every answer, exactly once, in the order they were made.

The catalog gives revisions their numbers and keeps them for those who read them now. Each append is a transaction of
the table named after the last number in it, so whoever comes next, also after a crash, goes on right behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from moirae.adapters.delta import commit_files, last_transaction, write_file
from moirae.ports.catalog import Catalog, Revision

WRITER = "answers"
MOST = 10_000  # revisions of one append
_TIME = pa.timestamp("us", tz="UTC")
ANSWERS = pa.schema(
    [
        pa.field("eid", pa.string()),
        pa.field("recall", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("at", _TIME),
        pa.field("seq", pa.int64()),
        pa.field("op", pa.string()),
        pa.field("covered_from", _TIME),
        pa.field("covered_to", _TIME),
        pa.field("chunks_done", pa.int64()),
        pa.field("complete", pa.bool_()),
        pa.field("answer", pa.string()),
        pa.field("made_at", _TIME),
    ]
)


class AnswersTable:
    """One writer for the table's whole life: the recall application."""

    def __init__(self, catalog: Catalog, place: str) -> None:
        self.catalog, self.place = catalog, place
        self._published: int | None = None  # the table itself knows; asked once

    def publish(self) -> int:
        """Append what is new, if anything; how many revisions."""
        if self._published is None:
            self._published = last_transaction(self.place, WRITER) or 0
        total = 0
        while found := self.catalog.revisions_after(self._published, MOST):
            last = found[-1][0]
            file = write_file(self.place, answer_rows([revision for _, revision in found]))
            commit_files(self.place, ANSWERS, [file], WRITER, last)
            self._published = last
            total += len(found)
        return total


def answer_rows(revisions: Sequence[Revision]) -> pa.Table:
    """Revisions as the table holds them: `at` is the event's, `answer` one JSON object."""
    renamed = {"version": "recall_version", "at": "event_at"}
    columns = [
        pa.array([getattr(each, renamed.get(field.name, field.name)) for each in revisions], field.type)
        for field in ANSWERS
    ]
    return pa.table(columns, schema=ANSWERS)
