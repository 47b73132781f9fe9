"""A bound pack as the catalog's statements: each with the fingerprint of its meaning and what it reads."""

from __future__ import annotations

from moirae.errors import DeployError
from moirae.model.fingerprint import Definition, fingerprint
from moirae.model.query import EventDef, Pack, RecallDef
from moirae.ports.catalog import NewStatement, StatementKind


def pack_statements(pack: Pack) -> list[NewStatement]:
    """In an order in which each statement comes after what it reads."""
    if pack.result is not None:
        raise DeployError("a bare SELECT cannot be deployed; write CREATE EVENT name AS SELECT …, or use 'moirae run'")
    kinds: tuple[tuple[StatementKind, tuple[Definition, ...]], ...] = (
        ("stream", pack.streams),
        ("table", pack.tables),
        ("event", pack.events),
        ("recall", pack.recalls),
    )
    return [
        NewStatement(kind, definition.name, definition.text, fingerprint(definition), _reads(definition))
        for kind, definitions in kinds
        for definition in definitions
    ]


def _reads(definition: Definition) -> tuple[str, ...]:
    match definition:
        case EventDef():
            return (definition.stream,)
        case RecallDef():
            return (definition.event, definition.stream)
    return ()
