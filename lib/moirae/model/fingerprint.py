"""A digest of what a definition means: layout, comments and letter case of its text do not count."""

from __future__ import annotations

import hashlib
from dataclasses import fields

from moirae.model.query import EventDef, RecallDef, StreamDef, TableDef

Definition = StreamDef | TableDef | EventDef | RecallDef


def fingerprint(definition: Definition) -> str:
    """Equal exactly for definitions that compare equal."""
    meant = [getattr(definition, field.name) for field in fields(definition) if field.compare]
    return hashlib.sha256(repr(meant).encode()).hexdigest()[:16]
