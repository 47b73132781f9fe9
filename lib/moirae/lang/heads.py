"""The heads of our statements: CREATE STREAM, TABLE, EVENT and RECALL, one function each.

Clauses may stand in any order; each may stand once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from moirae.lang.body import parse_select
from moirae.lang.cursor import Cursor
from moirae.lang.source import nearest
from moirae.lang.statements import (
    ColumnText,
    CreateEvent,
    CreateRecall,
    CreateStream,
    CreateTable,
    Name,
    Statement,
)

S = TypeVar("S", bound=Statement)

LATER = {
    "CONTEXT": "contexts are not supported yet",
    "SURROUNDING": "surroundings are not supported yet",
    "SIMILAR": "similar events are not supported yet",
    "ALERT": "alerts are not supported yet",
    "ARCHIVE": "what recalls need is kept without asking",
    "AGGREGATE": "aggregates written in SQL are not supported yet",
}
"""Statements of the language that this version refuses by name."""

_COLUMNS = "write (column TYPE, …), such as (at TIMESTAMP, server STRING, bytes BIGINT)"


def create_stream(cursor: Cursor, text: str) -> CreateStream:
    stream = CreateStream(cursor.tokens[0].start, text, _defined(cursor, "stream"))
    stream.columns = _columns(cursor)
    seen: set[str] = set()
    while cursor.word:
        clause = _clause(cursor, _STREAM_CLAUSES, seen)
        clause(cursor, stream)
    return stream


def create_table(cursor: Cursor, text: str) -> CreateTable:
    table = CreateTable(cursor.tokens[0].start, text, _defined(cursor, "table"))
    table.columns = _columns(cursor)
    cursor.expect("FROM", remedy="write FROM 'tables/name.csv'")
    table.path = cursor.text("a file in quotes", "write FROM 'tables/name.csv'")
    cursor.end("remove what follows the file name")
    return table


def create_event(cursor: Cursor, text: str) -> CreateEvent:
    name = _defined(cursor, "event")
    cursor.expect("AS", remedy=f"write CREATE EVENT {name.text} AS SELECT …")
    return CreateEvent(cursor.tokens[0].start, text, name, _body(cursor))


def create_recall(cursor: Cursor, text: str) -> CreateRecall:
    recall = CreateRecall(cursor.tokens[0].start, text, _defined(cursor, "recall"))
    cursor.expect("FOR", remedy="write FOR and the event that asks, such as FOR busy_server e")
    recall.event = cursor.name("the name of an event", "write FOR and the event that asks, such as FOR busy_server e")
    recall.alias = recall.event.text
    if not any(cursor.sees(word) for word in ("OVER", "REPORT", "PAUSE", "PATIENCE", "AS")):
        recall.alias = cursor.name("a short name for the event", "write FOR busy_server e").text
    seen: set[str] = set()
    while not cursor.sees("AS"):
        clause = _clause(cursor, _RECALL_CLAUSES, seen)
        clause(cursor, recall)
    cursor.take("AS")
    _require_over(cursor, recall, seen)
    recall.body = _body(cursor)
    return recall


def _require_over(cursor: Cursor, recall: CreateRecall, seen: set[str]) -> None:
    if "OVER" not in seen:
        remedy = "write how far back to look: OVER LAST '30 days' or OVER ALL"
        cursor.report.add(recall.event.at, "OVER after the event", "AS", remedy)


def _body(cursor: Cursor) -> exp.Select:
    if not (cursor.sees("SELECT") or cursor.sees("WITH") or cursor.sees("FROM")):
        raise cursor.refuse("SELECT", "write AS SELECT … FROM …")
    return parse_select(cursor.rest(), cursor.report)


def _defined(cursor: Cursor, kind: str) -> Name:
    name = cursor.name(f"a name for the {kind}", f"write CREATE {kind.upper()} and a name")
    cursor.report.query = name.text
    return name


def _columns(cursor: Cursor) -> list[ColumnText]:
    cursor.expect("(", remedy=_COLUMNS)
    columns = []
    while True:
        name = cursor.name("a column", _COLUMNS)
        bare = cursor.sees(",") or cursor.sees(")")
        columns.append(ColumnText(name, None if bare else cursor.name("a type", _COLUMNS)))
        _skip_type_arguments(cursor)
        if cursor.take(")"):
            return columns
        cursor.expect(",", remedy=_COLUMNS)


def _skip_type_arguments(cursor: Cursor) -> None:
    """DECIMAL(10, 2): the type is refused later, by its name."""
    if cursor.take("("):
        while cursor.word and not cursor.take(")"):
            cursor.skip()
    if cursor.sees("NOT", "NULL") or cursor.sees("COMMENT"):
        raise cursor.refuse(", or )", "leave it out: columns have a name and a type only")


def _clause(
    cursor: Cursor, clauses: dict[str, Callable[[Cursor, S], None]], seen: set[str]
) -> Callable[[Cursor, S], None]:
    word = cursor.word.upper if cursor.word else ""
    if word not in clauses:
        raise cursor.refuse(f"one of {', '.join(clauses)}", nearest(word, clauses, "clauses"))
    if word in seen:
        raise cursor.refuse(f"{word} once", f"remove the second {word}")
    seen.add(word)
    cursor.skip()
    return clauses[word]


def _order(cursor: Cursor, stream: CreateStream) -> None:
    cursor.expect("BY", remedy="write ORDER BY and the column of the event time")
    stream.order = cursor.name("a column", "write ORDER BY and the column of the event time")
    if cursor.take("LATENESS"):
        stream.lateness = cursor.text("a duration in quotes", "write LATENESS '1 minute'")


def _valid(cursor: Cursor, stream: CreateStream) -> None:
    if cursor.sees("UNTIL") or cursor.sees("FROM"):
        raise cursor.refuse("FOR", "these lifetimes are not supported yet; write VALID FOR '5 minutes' or leave it out")
    cursor.expect("FOR", remedy="write VALID FOR '5 minutes'")
    stream.valid = cursor.text("a duration in quotes", "write VALID FOR '5 minutes'")


def _from(cursor: Cursor, stream: CreateStream) -> None:
    remedy = "write FROM LANDING 'folder' or FROM KAFKA 'topic'"
    if not (cursor.sees("LANDING") or cursor.sees("KAFKA")):
        raise cursor.refuse("LANDING or KAFKA", remedy)
    stream.source = cursor.name("LANDING or KAFKA", remedy)
    stream.source_name = cursor.text("a name in quotes", remedy)


def _with(cursor: Cursor, stream: CreateStream) -> None:
    remedy = "write WITH (option = value, …), such as WITH (chunk_age = '1 day', recent_chunks = 8)"
    cursor.expect("(", remedy=remedy)
    while True:
        name = cursor.name("an option", remedy)
        cursor.expect("=", remedy=remedy)
        stream.options.append((name, cursor.value("a value", remedy)))
        if cursor.take(")"):
            return
        cursor.expect(",", remedy=remedy)


def _over(cursor: Cursor, recall: CreateRecall) -> None:
    remedy = "write OVER LAST '30 days' or OVER ALL"
    if not cursor.take("ALL"):
        cursor.expect("LAST", remedy=remedy)
        recall.over = cursor.text("a duration in quotes", remedy)


def _report_every(cursor: Cursor, recall: CreateRecall) -> None:
    cursor.expect("EVERY", remedy="write REPORT EVERY '2 seconds'")
    recall.report_every = cursor.text("a duration in quotes", "write REPORT EVERY '2 seconds'")


def _pause(cursor: Cursor, recall: CreateRecall) -> None:
    remedy = "write PAUSE EVERY 20 CHUNKS"
    cursor.expect("EVERY", remedy=remedy)
    recall.pause_every = cursor.value("a number of chunks", remedy)
    if not (cursor.take("CHUNKS") or cursor.take("CHUNK")):
        raise cursor.refuse("CHUNKS", remedy)


def _patience(cursor: Cursor, recall: CreateRecall) -> None:
    recall.patience = cursor.text("a duration in quotes", "write PATIENCE '10 minutes'")


_STREAM_CLAUSES: dict[str, Callable[[Cursor, CreateStream], None]] = {
    "ORDER": _order,
    "VALID": _valid,
    "FROM": _from,
    "WITH": _with,
}
_RECALL_CLAUSES: dict[str, Callable[[Cursor, CreateRecall], None]] = {
    "OVER": _over,
    "REPORT": _report_every,
    "PAUSE": _pause,
    "PATIENCE": _patience,
}
CREATE: dict[str, Callable[[Cursor, str], Statement]] = {
    "STREAM": create_stream,
    "TABLE": create_table,
    "EVENT": create_event,
    "RECALL": create_recall,
}
