"""CREATE EVENT, CREATE RECALL and the bare SELECT: the relation they read, then the SELECT itself."""

from __future__ import annotations

from sqlglot import exp

from moirae.lang.body import SEQUENCES
from moirae.lang.registry import Registry
from moirae.lang.scope import Scope
from moirae.lang.select import Bound, Purpose, bind_select, refuse_clauses
from moirae.lang.source import Report, offset_of
from moirae.lang.statements import CreateEvent, CreateRecall, Name
from moirae.lang.types import count, duration
from moirae.model.query import EventDef, Output, RecallDef
from moirae.model.schema import Type

_REPORT_EVERY_US = 2_000_000
_OWN = {"eid": Type.STRING, "at": Type.TIMESTAMP}


def bind_event(statement: CreateEvent, registry: Registry) -> EventDef | None:
    report, at = registry.report, statement.at
    refuse_clauses(statement.body, at, report)
    named = _relation(statement.body, at, report, archive=False)
    found = registry.relation(named[0]) if named else None
    if named is None or found is None:
        return None
    name, alias = named
    scope = Scope(name.text, found[0], (name.text, alias))
    bound = bind_select(statement.body, scope, Purpose(found[1], "an event"), at, report)
    if not statement.bare:
        _check_own(bound.select, statement.name, report)
    return EventDef(
        statement.name.text,
        name.text,
        bound.where,
        bound.window,
        bound.keys,
        bound.aggregates,
        bound.having,
        bound.select,
        statement.text,
    )


def _check_own(outputs: tuple[Output, ...], name: Name, report: Report) -> None:
    """An event's own `eid` and `at` replace the made ones, so they must have their types."""
    for output in outputs:
        want = _OWN.get(output.name, output.expr.type)
        if output.expr.type is not want:
            found = f"{output.expr.type.value} for '{output.name}'"
            report.add(name.at, f"{want.value} for the event's '{output.name}'", found, "rename the column with AS")


def bind_recall(statement: CreateRecall, registry: Registry) -> RecallDef | None:
    report, at = registry.report, statement.at
    event = registry.event(statement.event)
    over = duration(statement.over, report) if statement.over else None
    every = duration(statement.report_every, report) if statement.report_every else _REPORT_EVERY_US
    pause = count(statement.pause_every, report) if statement.pause_every else None
    patience = duration(statement.patience, report) if statement.patience else None
    refuse_clauses(statement.body, at, report)
    named = _relation(statement.body, at, report, archive=True)
    found = registry.relation(named[0]) if named else None
    if event is None or named is None or found is None:
        return None
    name, alias = named
    if alias == statement.alias:
        report.add(name.at, "two names for the event and its history", f"'{alias}' for both", "rename one of them")
        return None
    scope = Scope(name.text, found[0], (name.text, alias), statement.alias, event.schema)
    bound = bind_select(statement.body, scope, Purpose("", "a recall"), at, report)
    _require_aggregate(statement, bound, report)
    return RecallDef(
        statement.name.text,
        statement.event.text,
        name.text,
        over,
        every or _REPORT_EVERY_US,
        bound.where,
        bound.keys,
        bound.aggregates,
        bound.having,
        bound.select,
        pause,
        patience,
        statement.text,
    )


def _require_aggregate(statement: CreateRecall, bound: Bound, report: Report) -> None:
    outputs = statement.body.expressions
    if not bound.aggregates and len(bound.select) == len(outputs):
        remedy = "select an aggregate such as count(*) or avg(x); listing rows is not supported yet"
        place = offset_of(outputs[0], statement.at) if outputs else statement.at
        report.add(place, "an aggregate in a recall", "none", remedy)


def _relation(select: exp.Select, at: int, report: Report, *, archive: bool) -> tuple[Name, str] | None:
    """The one relation after FROM and its alias."""
    clause = select.args.get("from_")
    shape = "write FROM HISTORY(stream) h" if archive else "write FROM and the name of a stream or event"
    if clause is None:
        report.add(at, "FROM", "a SELECT without it", shape)
        return None
    table = clause.this
    place = offset_of(table, at)
    if not isinstance(table, exp.Table):
        report.add(
            place, "a stream or event after FROM", "a subquery or values", f"{shape}; subqueries are not supported"
        )
        return None
    if not _check_table(table, place, report, shape):
        return None
    return _archive(table, place, report, shape) if archive else _stream(table, place, report, shape)


def _check_table(table: exp.Table, place: int, report: Report, shape: str) -> bool:
    extra = {key for key, value in table.args.items() if value} - {"this", "alias"}
    if isinstance(table.args.get("match_recognize"), exp.Expr):
        report.add(place, "a filter or a window", "MATCH_RECOGNIZE", SEQUENCES)
    elif extra & {"joins", "laterals"}:
        report.add(place, "one stream or event", "a JOIN", "joins are not supported yet; read one stream")
    elif extra & {"db", "catalog"}:
        report.add(place, "a plain name", "a name with dots", "leave out everything before the last dot")
    elif extra or (table.args.get("alias") and table.args["alias"].args.get("columns")):
        report.add(place, "a name and an alias after FROM", "more", shape)
    else:
        return True
    return False


def _stream(table: exp.Table, place: int, report: Report, shape: str) -> tuple[Name, str] | None:
    if isinstance(table.this, exp.Anonymous) and str(table.this.name).lower() == "history":
        report.add(
            place, "a stream or event", "HISTORY(…)", "history is read in a CREATE RECALL; here, name the stream"
        )
        return None
    if not isinstance(table.this, exp.Identifier):
        report.add(place, "a stream or event", "something else", shape)
        return None
    return Name(table.name.lower(), place), (table.alias or table.name).lower()


def _archive(table: exp.Table, place: int, report: Report, shape: str) -> tuple[Name, str] | None:
    call = table.this
    if isinstance(call, exp.Identifier):
        report.add(place, "HISTORY(…) in a recall", f"'{table.name}'", f"write FROM HISTORY({table.name.lower()}) h")
        return None
    arguments = call.expressions if isinstance(call, exp.Anonymous) and str(call.name).lower() == "history" else []
    column = arguments[0] if len(arguments) == 1 else None
    if not isinstance(column, exp.Column) or column.table or isinstance(column.this, exp.Star):
        report.add(place, "HISTORY and one name", "something else", shape)
        return None
    name = Name(column.name.lower(), offset_of(column, place))
    return name, (table.alias or name.text).lower()
