"""What the lifecycle asks of a quality gate: a verdict on a chunk's rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from moirae.ports.catalog import Chunk


@dataclass(frozen=True, slots=True)
class Verdict:
    """`bad` holds the rows that fail, with a `_reason` column; `suite_passed` is about the chunk as a whole."""

    suite_passed: bool
    bad_rows: int
    reason: str
    bad: Any | None = None  # a DataFrame of the engine in use


class QualityGate(Protocol):
    def judge(self, rows: Any, chunk: Chunk) -> Verdict: ...
