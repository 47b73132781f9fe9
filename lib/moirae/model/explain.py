"""Bound definitions as text for people: one block each, one line a fact, equal texts for equal ones."""

from __future__ import annotations

from collections.abc import Iterator

from moirae.model.expr import Expr
from moirae.model.query import Aggregate, EventDef, Output, Pack, RecallDef, StreamDef, TableDef
from moirae.model.show import show, show_text
from moirae.model.units import show_duration, show_size

Line = tuple[str, str]


def explain(pack: Pack) -> str:
    """All definitions, in the order of the pack."""
    result = (pack.result,) if pack.result else ()
    definitions = (*pack.streams, *pack.tables, *pack.events, *pack.recalls, *result)
    return "\n\n".join(map(explain_definition, definitions)) + "\n" if definitions else ""


def explain_definition(definition: StreamDef | TableDef | EventDef | RecallDef) -> str:
    """
    >>> from moirae.model.schema import Schema, Type
    >>> print(explain_definition(TableDef("servers", Schema.of(cpus=Type.INT), "servers.csv")))
    table servers
      columns    cpus INT
      from       'servers.csv'
    """
    match definition:
        case StreamDef():
            return _block("stream", definition.name, _stream(definition))
        case TableDef():
            lines = [("columns", definition.schema.ddl), ("from", show_text(definition.path))]
            return _block("table", definition.name, iter(lines))
        case EventDef():
            return _block("event", definition.name, _event(definition))
        case RecallDef():
            return _block("recall", definition.name, _recall(definition))


def _block(kind: str, name: str, lines: Iterator[Line]) -> str:
    return "\n".join([f"{kind} {name}", *(f"  {label:<10} {text}" for label, text in lines)])


def _stream(stream: StreamDef) -> Iterator[Line]:
    yield "columns", stream.schema.ddl
    yield "order by", f"{stream.time}, lateness {show_duration(stream.lateness_us)}"
    yield "from", f"{stream.source} {show_text(stream.source_name)}"
    if stream.valid_us is not None:
        yield "valid for", show_duration(stream.valid_us)
    if stream.chunk_size is not None:
        yield "chunk size", show_size(stream.chunk_size)
    if stream.chunk_age_us is not None:
        yield "chunk age", show_duration(stream.chunk_age_us)
    if stream.recent_chunks is not None:
        yield "recent", f"{stream.recent_chunks} chunks"
    if stream.retention_us is not None:
        yield "retention", show_duration(stream.retention_us)


def _event(event: EventDef) -> Iterator[Line]:
    yield "from", event.stream
    yield from _condition("where", event.where)
    if event.window:
        yield "window", f"{show_duration(event.window.size_us)} every {show_duration(event.window.hop_us)}"
    yield from _grouped(event.keys, event.aggregates)
    yield from _condition("having", event.having)
    yield from _outputs("select", event.select)


def _recall(recall: RecallDef) -> Iterator[Line]:
    yield "for", recall.event
    yield "over", "all" if recall.over_us is None else f"last {show_duration(recall.over_us)}"
    yield "report", f"every {show_duration(recall.report_every_us)}"
    if recall.pause_every is not None:
        yield "pause", f"every {recall.pause_every} chunks"
    if recall.patience_us is not None:
        yield "patience", show_duration(recall.patience_us)
    yield "from", f"history of {recall.stream}"
    yield from _condition("where", recall.where)
    yield from _grouped(recall.keys, recall.aggregates)
    yield from _condition("having", recall.having)
    yield from _outputs("select", recall.select)


def _condition(label: str, expr: Expr | None) -> Iterator[Line]:
    if expr is not None:
        yield label, show(expr)


def _grouped(keys: tuple[Output, ...], aggregates: tuple[Aggregate, ...]) -> Iterator[Line]:
    yield from _outputs("key", keys)
    for aggregate in aggregates:
        argument = "*" if aggregate.argument is None else show(aggregate.argument)
        yield "aggregate", f"{aggregate.name} {aggregate.type.value} = {aggregate.function}({argument})"


def _outputs(label: str, outputs: tuple[Output, ...]) -> Iterator[Line]:
    for output in outputs:
        yield label, f"{output.name} {output.expr.type.value} = {show(output.expr)}"
