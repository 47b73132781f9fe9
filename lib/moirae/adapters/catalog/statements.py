"""Statements and their versions. Invariant: every name an active statement reads is active."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Row, func, insert, select, update

from moirae.adapters.catalog.section import Section, lock_counter, set_counter
from moirae.adapters.catalog.tables import counters, statements
from moirae.errors import CatalogError
from moirae.ports.catalog import Deployed, NewStatement

_PROGRAM = "program"
_FIELDS = [column for column in statements.c if column.name != "id"]


class StatementsSection(Section):
    def deploy(self, statements: Sequence[NewStatement], now: int) -> list[Deployed]:
        with self.writing() as connection:
            program = lock_counter(connection, _PROGRAM)
            before = {item.name: item for item in _active(connection)}
            _check(statements, set(before))
            changed = [new for new in statements if not _same(new, before.get(new.name))]
            for new in changed:
                _replace(connection, new, now)
            if changed:
                set_counter(connection, _PROGRAM, program + 1)
            after = {item.name: item for item in _active(connection)}
        return [after[new.name] for new in statements]

    def undeploy(self, name: str, now: int) -> Deployed:
        with self.writing() as connection:
            program = lock_counter(connection, _PROGRAM)
            active = _active(connection)
            found = next((item for item in active if item.name == name), None)
            if found is None:
                raise CatalogError(_not_deployed(name, active))
            readers = [item.name for item in active if name in item.reads]
            if readers:
                raise CatalogError(
                    f"{found.kind} '{name}' is read by {_listed(readers)}; undeploy {_listed(readers)} first"
                )
            _drop(connection, name, now)
            set_counter(connection, _PROGRAM, program + 1)
            return _versions(connection, name)[-1]

    def active(self) -> list[Deployed]:
        with self.reading() as connection:
            return reads_first(_active(connection))

    def versions(self, name: str) -> list[Deployed]:
        with self.reading() as connection:
            return _versions(connection, name)

    def program_version(self) -> int:
        with self.reading() as connection:
            return connection.scalar(select(counters.c.value).where(counters.c.name == _PROGRAM)) or 0


def reads_first(deployed: Sequence[Deployed]) -> list[Deployed]:
    """Keep the order, but put what a statement reads before it: a stream deployed again stays ahead of its events."""
    by_name = {item.name: item for item in deployed}
    ordered: dict[str, Deployed] = {}
    entered: set[str] = set()

    def put(item: Deployed) -> None:
        if item.name in entered:
            return
        entered.add(item.name)
        for name in item.reads:
            if name in by_name:
                put(by_name[name])
        ordered[item.name] = item

    for item in deployed:
        put(item)
    return list(ordered.values())


def _check(new: Sequence[NewStatement], active: set[str]) -> None:
    names = [item.name for item in new]
    for item in new:
        if names.count(item.name) > 1:
            raise CatalogError(f"{item.kind} '{item.name}' is deployed twice at once; keep one of the two")
        missing = [name for name in item.reads if name not in active and name not in names]
        if missing:
            absent = _listed(missing)
            raise CatalogError(f"{item.kind} '{item.name}' reads {absent}, not deployed; deploy {absent} too")


def _same(new: NewStatement, active: Deployed | None) -> bool:
    return active is not None and (new.kind, new.fingerprint) == (active.kind, active.fingerprint)


def _replace(connection: Connection, new: NewStatement, now: int) -> None:
    """A name's versions count on after it was dropped: a version, once used, means one text for ever."""
    _drop(connection, new.name, now)
    last = connection.scalar(select(func.max(statements.c.version)).where(statements.c.name == new.name)) or 0
    values = {"kind": new.kind, "name": new.name, "text": new.text, "fingerprint": new.fingerprint}
    state = {"version": last + 1, "reads": json.dumps(new.reads), "active": True, "deployed_at": now}
    connection.execute(insert(statements).values(**values, **state))


def _drop(connection: Connection, name: str, now: int) -> None:
    active = (statements.c.name == name) & statements.c.active
    connection.execute(update(statements).where(active).values(active=False, dropped_at=now))


def _active(connection: Connection) -> list[Deployed]:
    query = select(*_FIELDS).where(statements.c.active).order_by(statements.c.id)
    return [_deployed(row) for row in connection.execute(query)]


def _versions(connection: Connection, name: str) -> list[Deployed]:
    query = select(*_FIELDS).where(statements.c.name == name).order_by(statements.c.version)
    return [_deployed(row) for row in connection.execute(query)]


def _deployed(row: Row[tuple[object, ...]]) -> Deployed:
    values = dict(row._mapping)
    return Deployed(**values | {"reads": tuple(json.loads(values["reads"]))})


def _not_deployed(name: str, active: Iterable[Deployed]) -> str:
    names = _listed(sorted(item.name for item in active)) or "nothing"
    return f"'{name}' is not deployed; deployed: {names}; name one of these"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
