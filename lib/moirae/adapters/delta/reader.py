"""Chunks as Arrow tables in this process: files are immutable, so each is read once and kept while there is room.

The present chunk grows by a file a batch: reading it again reads only what is new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from moirae.adapters.delta.log import files_at
from moirae.adapters.storage import locate
from moirae.ports.catalog import Chunk


class CachingChunkReader:
    """Keeps the columns read, least recently used first out."""

    def __init__(self, most_bytes: int = 512 << 20) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, tuple[str, ...]], pa.Table] = OrderedDict()

    def read(self, chunk: Chunk, columns: Sequence[str]) -> pa.Table:
        assert chunk.delta_version is not None, "a chunk without rows is never read"
        files = files_at(chunk.path, chunk.delta_version)
        return pa.concat_tables([self._file(f"{chunk.path}/{file.path}", tuple(columns)) for file in files])

    def _file(self, path: str, columns: tuple[str, ...]) -> pa.Table:
        key = (path, columns)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        system, place = locate(path)
        table = pq.read_table(place, columns=list(columns), filesystem=system, use_threads=False)
        self._kept[key] = table
        self._bytes += table.nbytes
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return table
