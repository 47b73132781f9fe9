"""Events and their values, for people and for scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moirae.cli.output import visible
from moirae.cli.times import iso

if TYPE_CHECKING:
    from moirae.ports.catalog import LiveEvent


def event_fields(event: LiveEvent) -> dict[str, object]:
    head = {"eid": event.eid, "query": event.query, "version": event.version, "at": iso(event.at)}
    return {**head, "seen_at": iso(event.seen_at), "columns": json.loads(event.columns)}


def show_columns(columns: str) -> str:
    """
    >>> show_columns('{"server": "srv-01", "bw": 1234.5678901, "note": null}')
    'server=srv-01 bw=1234.57 note=-'
    """
    return show_pairs(json.loads(columns))


def show_pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{visible(name)}={show_value(value)}" for name, value in values.items())


def show_value(value: object) -> str:
    """
    >>> show_value(0.1 + 0.2), show_value(True), show_value(None), show_value(7)
    ('0.3', 'true', '-', '7')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else visible(str(value))
