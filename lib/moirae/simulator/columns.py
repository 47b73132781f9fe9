"""Rows of a block as numpy columns in time order; names and words as numbers until the last moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from moirae.simulator.seeds import I64, Mask

Columns = dict[str, npt.NDArray[Any]]


def gather(at: I64, keep: Mask, **values: npt.NDArray[Any]) -> Columns:
    """Cells of shape (slots, servers) that are kept, as rows in order of time; ties in order of the server."""
    times = at[keep]
    server = np.broadcast_to(np.arange(at.shape[1]), at.shape)[keep]
    order = np.argsort(times, kind="stable")
    columns: Columns = {"at": times[order], "server": server[order]}
    return columns | {name: value[keep][order] for name, value in values.items()}


def append(rows: Columns, more: Sequence[Columns]) -> Columns:
    """All rows together, in order of time; ties keep the order given."""
    if not more:
        return rows
    joined = {name: np.concatenate([rows[name], *(part[name] for part in more)]) for name in rows}
    order = np.argsort(joined["at"], kind="stable")
    return {name: column[order] for name, column in joined.items()}


def trim(rows: Columns, start: int, end: int) -> Columns:
    """Rows with start <= at < end of columns in order of time."""
    first, last = np.searchsorted(rows["at"], [start, end])
    return {name: column[first:last] for name, column in rows.items()}
