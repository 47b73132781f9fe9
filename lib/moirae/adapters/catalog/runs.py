"""Runs of jobs and DAG tasks, and the signs of life of processes."""

from __future__ import annotations

import json

from sqlalchemy import insert, select, update

from moirae.adapters.catalog.section import Section, upsert
from moirae.adapters.catalog.tables import beats as beats_table
from moirae.adapters.catalog.tables import runs as table
from moirae.errors import CatalogError
from moirae.ports.catalog import Beat, Run, RunId


class RunsSection(Section):
    def start_run(self, kind: str, name: str, fields: str, now: int) -> RunId:
        values = {"kind": kind, "name": name, "status": "running", "fields": fields, "started_at": now}
        with self.writing() as connection:
            return RunId(connection.execute(insert(table).values(values).returning(table.c.id)).scalar_one())

    def finish_run(self, run_id: RunId, status: str, fields: str, now: int) -> Run:
        this = table.c.id == run_id
        with self.writing() as connection:
            before = connection.scalar(select(table.c.fields).where(this).with_for_update())
            if before is None:
                raise CatalogError(f"run {run_id}: the catalog does not know it; start it first")
            merged = json.dumps({**json.loads(before), **json.loads(fields)}, sort_keys=True)
            connection.execute(update(table).where(this).values(status=status, fields=merged, finished_at=now))
            return Run(**connection.execute(select(table).where(this)).one()._mapping)

    def runs(self, limit: int) -> list[Run]:
        with self.reading() as connection:
            found = connection.execute(select(table).order_by(table.c.id.desc()).limit(limit))
            return [Run(**row._mapping) for row in found]

    def beat(self, process: str, pid: int, state: str, fields: str, now: int) -> None:
        news = {"pid": pid, "state": state, "fields": fields, "beat_at": now}
        with self.writing() as connection:
            statement = upsert(connection, beats_table).values(process=process, **news)
            connection.execute(statement.on_conflict_do_update(index_elements=["process"], set_=news))

    def beats(self) -> list[Beat]:
        with self.reading() as connection:
            found = connection.execute(select(beats_table).order_by(beats_table.c.process))
            return [Beat(**row._mapping) for row in found]
