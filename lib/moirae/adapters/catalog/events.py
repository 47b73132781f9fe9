"""The live event log. Invariant: an event is written once, as it was first seen; a replay changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, exists, func, select

from moirae.adapters.catalog.section import Section, as_rows, insert_new, slices
from moirae.adapters.catalog.tables import events as table
from moirae.adapters.catalog.tables import tasks
from moirae.errors import CatalogError
from moirae.ports.catalog import UNFINISHED, LiveEvent

_TOGETHER = 5000  # events of one transaction: about a tenth of a second
_LAST = "\U0010ffff"  # sorts behind every character an eid can have


class EventsSection(Section):
    def upsert_events(self, events: Sequence[LiveEvent]) -> None:
        for some in slices(events, _TOGETHER):
            with self.writing() as connection:
                insert_new(connection, table, as_rows(some))

    def events(self, query: str | None = None, limit: int = 50, since: int | None = None) -> list[LiveEvent]:
        wanted = select(table).order_by(table.c.at.desc(), table.c.eid).limit(limit)
        if query is not None:
            wanted = wanted.where(table.c.query == query)
        if since is not None:
            wanted = wanted.where(table.c.at >= since)
        with self.reading() as connection:
            return [LiveEvent(**row._mapping) for row in connection.execute(wanted)]

    def event(self, eid: str) -> LiveEvent:
        by_prefix = select(table).where(table.c.eid >= eid, table.c.eid < eid + _LAST).order_by(table.c.eid).limit(2)
        with self.reading() as connection:
            found = [LiveEvent(**row._mapping) for row in connection.execute(by_prefix)]
        if not found:
            raise CatalogError(f"no event begins with '{eid}'; `moirae events` lists the newest")
        if len(found) > 1 and found[0].eid != eid:
            both = " and ".join(f"'{event.eid}'" for event in found)
            raise CatalogError(f"several events begin with '{eid}', such as {both}; write more of the eid")
        return found[0]

    def prune_events(self, before: int) -> int:
        asked = exists().where(tasks.c.eid == table.c.eid, tasks.c.state.in_(UNFINISHED))
        gone = select(table.c.eid).where(table.c.seen_at < before, ~asked)
        with self.writing() as connection:
            eids = list(connection.scalars(gone.with_for_update()))
            for some in slices(eids):
                connection.execute(delete(tasks).where(tasks.c.eid.in_(some)))  # and, by cascade, the answers
                connection.execute(delete(table).where(table.c.eid.in_(some)))
        return len(eids)

    def event_count(self) -> dict[str, int]:
        query = select(table.c.query, func.count().label("events")).group_by(table.c.query).order_by(table.c.query)
        with self.reading() as connection:
            return {row.query: row.events for row in connection.execute(query)}
