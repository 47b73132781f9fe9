"""CREATE STREAM and CREATE TABLE: columns, time, source and options checked and put in units."""

from __future__ import annotations

from moirae.lang.source import Report, nearest
from moirae.lang.statements import ColumnText, CreateStream, CreateTable
from moirae.lang.types import count, duration, size, type_named
from moirae.model.query import StreamDef, TableDef
from moirae.model.schema import Column, Schema, Type

_OPTIONS = {
    "chunk_size": size,
    "chunk_age": duration,
    "recent_chunks": count,
    "retention": duration,
}


def bind_stream(statement: CreateStream, report: Report) -> StreamDef | None:
    schema = _schema(statement.columns, report)
    time = _time(statement, report)
    lateness = duration(statement.lateness, report, zero=True) if statement.lateness else 0
    valid = duration(statement.valid, report) if statement.valid else None
    options = _options(statement, report)
    source = statement.source.text if statement.source else "landing"
    source_name = statement.source_name.text if statement.source_name else statement.name.text
    if statement.source_name and not _plain(source_name):
        remedy = "write a plain name of letters, digits, '-', '_' and '.'"
        report.add(statement.source_name.at, "the name of a folder or topic", f"'{source_name}'", remedy)
    if schema is None or time is None or lateness is None:
        return None
    return StreamDef(
        statement.name.text,
        schema,
        time,
        lateness,
        source,
        source_name,
        valid_us=valid,
        chunk_size=options.get("chunk_size"),
        chunk_age_us=options.get("chunk_age"),
        recent_chunks=options.get("recent_chunks"),
        retention_us=options.get("retention"),
        text=statement.text,
    )


def _plain(name: str) -> bool:
    """No path: a landing folder must not lead out of the landing root."""
    return bool(name) and not name.startswith(".") and all(c.isalnum() or c in "-_." for c in name)


def bind_table(statement: CreateTable, report: Report) -> TableDef | None:
    schema = _schema(statement.columns, report)
    path = statement.path.text if statement.path else ""
    if statement.path and not path.strip():
        report.add(statement.path.at, "a file", "nothing", "write FROM 'tables/name.csv'")
    return None if schema is None else TableDef(statement.name.text, schema, path, statement.text)


def _schema(columns: list[ColumnText], report: Report) -> Schema | None:
    made: list[Column] = []
    types = [_type(column, report) for column in columns]
    for column, type_ in zip(columns, types, strict=True):
        name = column.name
        if not name.text.isidentifier():
            report.add(name.at, "a name of letters, digits and _", f"'{name.text}'", "choose a simpler name")
        elif name.text in [other.name for other in made]:
            report.add(name.at, "columns with distinct names", f"'{name.text}' twice", "rename one of them")
        elif type_ is not None:
            made.append(Column(name.text, type_))
    return Schema(tuple(made)) if len(made) == len(columns) else None


def _type(column: ColumnText, report: Report) -> Type | None:
    if column.type is None:
        remedy = f"write a type after it, such as {column.name.text} STRING"
        report.add(column.name.at, "a column with a type", f"'{column.name.text}' alone", remedy)
        return None
    return type_named(column.type, report)


def _time(statement: CreateStream, report: Report) -> str | None:
    if statement.order is None:
        remedy = "write ORDER BY and the TIMESTAMP column of the event time"
        report.add(statement.name.at, "a stream with ORDER BY", "none", f"arrival order is not supported yet; {remedy}")
        return None
    order, names = statement.order, {column.name.text: column.type for column in statement.columns}
    if order.text not in names:
        report.add(
            order.at, "a column of the stream in ORDER BY", f"'{order.text}'", nearest(order.text, names, "columns")
        )
        return None
    written = names[order.text]
    if written is not None and written.text != "timestamp":
        remedy = "order by a TIMESTAMP column; application time in other units is not supported yet"
        report.add(order.at, "a TIMESTAMP column in ORDER BY", f"'{order.text}' {written.text.upper()}", remedy)
        return None
    return order.text


def _options(statement: CreateStream, report: Report) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for name, value in statement.options:
        read = _OPTIONS.get(name.text)
        if read is None:
            report.add(name.at, "an option of a stream", f"'{name.text}'", nearest(name.text, _OPTIONS, "options"))
        elif name.text in found:
            report.add(name.at, "each option once", f"'{name.text}' twice", "remove one of them")
        else:
            found[name.text] = read(value, report)
    return found
