"""What planners know about a chunk: figures, never rows.

A chunk is written by one writer while open, sealed once and then immutable; a rewrite is a new generation in another
folder. `min_at` and `max_at` are None while it has no rows, and enclose every row it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

State = Literal["open", "sealed", "held", "expired"]
Tier = Literal["present", "recent", "old"]
CheckResult = Literal["none", "passed", "failed"]


class ChunkFacts(Protocol):
    """The figures a planner reads; the catalog's own record of a chunk has them too."""

    @property
    def id(self) -> str: ...
    @property
    def stream(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def state(self) -> State: ...
    @property
    def tier(self) -> Tier: ...
    @property
    def generation(self) -> int: ...
    @property
    def min_at(self) -> int | None: ...
    @property
    def max_at(self) -> int | None: ...
    @property
    def rows(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def opened_at(self) -> int: ...
    @property
    def check_result(self) -> CheckResult: ...


@dataclass(frozen=True, slots=True)
class ChunkMeta:
    """A chunk without the store behind it."""

    id: str
    stream: str
    sequence: int
    epoch: int = 0
    state: State = "open"
    tier: Tier = "present"
    generation: int = 0
    path: str = ""
    delta_version: int | None = None
    min_at: int | None = None
    max_at: int | None = None
    rows: int = 0
    bytes: int = 0
    opened_at: int = 0
    sealed_at: int | None = None
    check_result: CheckResult = "none"


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """The event times of a chunk's rows, both ends included."""

    chunk_id: str
    min_at: int
    max_at: int
    rows: int = 0


def span_of(chunk: ChunkFacts) -> ChunkSpan | None:
    """Where a chunk's rows lie in time; None if it has none.

    >>> span_of(ChunkMeta("traffic/000001", "traffic", 1, min_at=10, max_at=20, rows=3))
    ChunkSpan(chunk_id='traffic/000001', min_at=10, max_at=20, rows=3)
    """
    if chunk.min_at is None or chunk.max_at is None:
        return None
    return ChunkSpan(chunk.id, chunk.min_at, chunk.max_at, chunk.rows)
