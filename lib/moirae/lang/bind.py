"""`bind(text)`: a pack's text to bound definitions, or one QueryError with everything that is wrong, in text order.

Streams and tables are bound first, then events and recalls in the order of the text. A definition with an error
poisons those that read it without further words, so each mistake is reported once.
"""

from __future__ import annotations

from moirae.errors import QueryError
from moirae.lang.body import too_deep
from moirae.lang.definitions import bind_stream, bind_table
from moirae.lang.parse import parse
from moirae.lang.queries import bind_event, bind_recall
from moirae.lang.registry import Registry
from moirae.lang.source import Report
from moirae.lang.statements import CreateEvent, CreateRecall, CreateStream, CreateTable, Statement
from moirae.model.query import EventDef, Pack, RecallDef, StreamDef, TableDef

Definition = StreamDef | TableDef | EventDef | RecallDef


def bind(text: str, *, where: str = "", known: Pack | None = None) -> Pack:
    """All definitions of the text. `known` is what is deployed already; its names can be read and replaced.

    >>> pack = bind("CREATE STREAM s (at TIMESTAMP, x INT) ORDER BY at; CREATE EVENT e AS SELECT x FROM s WHERE x > 1;")
    >>> pack.events[0].schema.ddl
    'eid STRING, at TIMESTAMP, x INT'
    """
    report = Report(text, where)
    statements = parse(report)
    registry = Registry(known or Pack(), report)
    made = {id(statement): _bind(statement, registry) for statement in sorted(statements, key=_is_query)}
    if report.findings:
        raise QueryError(report.findings)
    return _pack(statements, [made[id(statement)] for statement in statements])


def _is_query(statement: Statement) -> bool:
    return isinstance(statement, CreateEvent | CreateRecall)


def _bind(statement: Statement, registry: Registry) -> Definition | None:
    bare = isinstance(statement, CreateEvent) and statement.bare
    registry.report.query = "" if bare else statement.name.text
    before = len(registry.report.findings)
    free = registry.claim(statement)
    made = _shallow(statement, registry)
    failed = made is None or len(registry.report.findings) > before
    if free:
        registry.add(statement.name.text, None if failed else made)
    return made


def _shallow(statement: Statement, registry: Registry) -> Definition | None:
    """The parser bounds the depth of a tree; a caller deep in its own stack may still meet Python's limit."""
    try:
        return _definition(statement, registry)
    except RecursionError:
        too_deep(statement.at, registry.report)
        return None


def _definition(statement: Statement, registry: Registry) -> Definition | None:
    match statement:
        case CreateStream():
            return bind_stream(statement, registry.report)
        case CreateTable():
            return bind_table(statement, registry.report)
        case CreateEvent():
            return bind_event(statement, registry)
        case CreateRecall():
            return bind_recall(statement, registry)
    raise TypeError(statement)


def _pack(statements: list[Statement], made: list[Definition | None]) -> Pack:
    bare = [isinstance(statement, CreateEvent) and statement.bare for statement in statements]
    return Pack(
        streams=tuple(item for item in made if isinstance(item, StreamDef)),
        tables=tuple(item for item in made if isinstance(item, TableDef)),
        events=tuple(item for item, b in zip(made, bare, strict=True) if isinstance(item, EventDef) and not b),
        recalls=tuple(item for item in made if isinstance(item, RecallDef)),
        result=next((item for item, b in zip(made, bare, strict=True) if isinstance(item, EventDef) and b), None),
    )
