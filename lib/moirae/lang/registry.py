"""Names defined so far: streams, tables, events and recalls share one name space."""

from __future__ import annotations

import re

from moirae.lang.source import Report, nearest
from moirae.lang.statements import CreateEvent, CreateRecall, CreateStream, CreateTable, Name, Statement
from moirae.model.query import EventDef, Pack, RecallDef, StreamDef, TableDef
from moirae.model.schema import Schema

_KINDS: dict[type, str] = {
    **{StreamDef: "stream", TableDef: "table", EventDef: "event", RecallDef: "recall"},
    **{CreateStream: "stream", CreateTable: "table", CreateEvent: "event", CreateRecall: "recall"},
}


class Registry:
    def __init__(self, known: Pack, report: Report) -> None:
        self.report = report
        deployed: tuple[StreamDef | TableDef | EventDef | RecallDef, ...] = ()
        deployed += (*known.streams, *known.tables, *known.events, *known.recalls)
        self._found: dict[str, StreamDef | TableDef | EventDef | RecallDef | None] = {d.name: d for d in deployed}
        self._deployed = {definition.name: _KINDS[type(definition)] for definition in deployed}
        self._here: dict[str, int] = {}

    def claim(self, statement: Statement) -> bool:
        """Whether the name is free; it must be fit too. A deployed definition may be replaced by one of its kind."""
        name, kind = statement.name, _KINDS[type(statement)]
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,99}", name.text):
            expected = "a name of letters, digits and _, beginning with a letter"
            self.report.add(name.at, expected, f"'{name.text}'", "choose a simpler name")
        if name.text in self._here:
            line = self.report.span(self._here[name.text]).line
            found = "a second bare SELECT" if _is_bare(statement) else f"'{name.text}', defined in line {line}"
            remedy = "name one with CREATE EVENT … AS" if _is_bare(statement) else "rename one of them"
            self.report.add(name.at, "a name that is still free", found, remedy)
            return False
        if self._deployed.get(name.text, kind) != kind:
            found = f"'{name.text}', a deployed {self._deployed[name.text]}"
            self.report.add(name.at, "a name that is still free", found, "rename it, or undeploy the other first")
        self._here[name.text] = name.at
        return True

    def add(self, name: str, definition: StreamDef | TableDef | EventDef | RecallDef | None) -> None:
        """None: it has errors; whoever reads it is not blamed."""
        self._found[name] = definition

    def relation(self, name: Name) -> tuple[Schema, str] | None:
        """Columns and time column of a stream or event; reported if there is none."""
        found = self._look_up(name, (StreamDef, EventDef), "stream or event")
        if isinstance(found, StreamDef):
            return found.schema, found.time
        return (found.schema, "at") if isinstance(found, EventDef) else None

    def event(self, name: Name) -> EventDef | None:
        found = self._look_up(name, (EventDef,), "event")
        return found if isinstance(found, EventDef) else None

    def _look_up(self, name: Name, kinds: tuple[type, ...], what: str) -> object | None:
        if name.text not in self._found:
            known = [other for other, found in self._found.items() if isinstance(found, kinds)]
            article = "an" if what[0] in "aeiou" else "a"
            remedy = nearest(name.text, known, f"{what.replace(' or ', 's and ')}s")
            self.report.add(name.at, f"{article} {what} defined above or deployed", f"'{name.text}'", remedy)
            return None
        found = self._found[name.text]
        if found is not None and not isinstance(found, kinds):
            article = "an" if what[0] in "aeiou" else "a"
            kind = _KINDS[type(found)]
            remedy = f"a {kind} cannot be read here yet; name {article} {what}"
            self.report.add(name.at, f"{article} {what}", f"the {kind} '{name.text}'", remedy)
            return None
        return found


def _is_bare(statement: Statement) -> bool:
    return isinstance(statement, CreateEvent) and statement.bare
