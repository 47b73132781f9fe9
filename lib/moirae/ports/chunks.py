"""What recall asks of the store: the rows of a chunk, at the version the catalog has pinned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from moirae.ports.catalog import Chunk


class ChunkReader(Protocol):
    def read(self, chunk: Chunk, columns: Sequence[str]) -> pa.Table:
        """The chunk's rows at its pinned version; only these columns."""
        ...
