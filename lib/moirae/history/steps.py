"""What a planner may ask for: each step is a value that says itself what will be done and why.

Carrying a step out twice must change nothing the second time; the catalog sees to that with epochs and generations.
"""

from __future__ import annotations

from dataclasses import dataclass

from moirae.model.chunk import Tier
from moirae.ports.catalog import ChunkId


@dataclass(frozen=True, slots=True)
class RollLimits:
    """When a present chunk is full: at this many bytes or at this age, whichever comes first."""

    size_bytes: int
    age_us: int

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.age_us <= 0:
            found = f"{self.size_bytes} bytes and {self.age_us} microseconds"
            raise ValueError(f"limits of a chunk must be above zero, but are {found}; set chunk_size and chunk_age")


@dataclass(frozen=True, slots=True)
class RollChunk:
    """Seal the present chunk and open the next one."""

    chunk_id: ChunkId
    reason: str

    def explain(self) -> str:
        return f"roll {self.chunk_id}: {self.reason}"


@dataclass(frozen=True, slots=True)
class CheckChunk:
    """Judge the quality of a sealed chunk."""

    chunk_id: ChunkId
    rows: int

    def explain(self) -> str:
        return f"check {self.chunk_id}: sealed with {self.rows} rows and not yet checked"


@dataclass(frozen=True, slots=True)
class CompactChunk:
    """Rewrite a chunk, sorted and in few files, as its next generation."""

    chunk_id: ChunkId
    generation: int  # the one that is read; the rewrite is the next

    def explain(self) -> str:
        return f"compact {self.chunk_id}: generation {self.generation} becomes {self.generation + 1}"


@dataclass(frozen=True, slots=True)
class ChangeTier:
    """Move a closed chunk to another tier."""

    chunk_id: ChunkId
    before: Tier
    after: Tier
    reason: str

    def explain(self) -> str:
        return f"move {self.chunk_id} from {self.before} to {self.after}: {self.reason}"


Step = RollChunk | CheckChunk | CompactChunk | ChangeTier
