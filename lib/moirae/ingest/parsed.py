"""What comes out of a file, and how pieces of it are put together: always in the order of the lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moirae.ingest.reader import LINE, file_schema
from moirae.model.schema import Schema

BAD = pa.schema([("line", pa.int64()), ("text", pa.string()), ("reason", pa.string())])

Bad = tuple[int, str, str]


@dataclass(frozen=True)
class Parsed:
    """`rows`: the stream's columns and `_line`; `bad`: `line`, `text`, `reason`. Both in the order of the file."""

    rows: pa.Table
    bad: pa.Table


def bad_table(found: Iterable[Bad]) -> pa.Table:
    """
    >>> bad_table([(3, "{", "not JSON"), (1, "[]", "no object")]).column("line").to_pylist()
    [1, 3]
    """
    ordered = sorted(found, key=lambda bad: bad[0])
    return pa.Table.from_arrays([pa.array([bad[i] for bad in ordered], f.type) for i, f in enumerate(BAD)], schema=BAD)


def in_order(tables: Sequence[pa.Table], by: str = LINE) -> pa.Table:
    """Pieces of one block as one table."""
    together = _concat(tables)
    lines = together.column(by).to_numpy()
    if (np.diff(lines) > 0).all():
        return together
    return together.take(pa.array(np.argsort(lines, kind="stable")))


def joined(schema: Schema, parts: Sequence[Parsed]) -> Parsed:
    """Blocks, one after the other."""
    rows = _concat([file_schema(schema).empty_table(), *(part.rows for part in parts)])
    return Parsed(rows, _concat([BAD.empty_table(), *(part.bad for part in parts)]))


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Without empty chunks."""
    return pa.concat_tables([table for table in tables if table.num_rows] or tables[:1])
