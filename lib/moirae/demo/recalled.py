"""A recalled answer computed once more, from the archive's files and by other means than the recall's own."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moirae.adapters.delta import read_table
from moirae.ports.catalog import Catalog, LiveEvent, Revision


@dataclass(frozen=True, slots=True)
class Recalled:
    """An event, the last answer about it, and the mean and spread the archive itself gives."""

    event: LiveEvent
    first: Revision
    last: Revision
    mean: float
    spread: float

    @property
    def answer(self) -> dict[str, float]:
        rows: list[dict[str, float]] = json.loads(self.last.answer)["rows"]
        return rows[0]

    @property
    def right(self) -> bool:
        close = math.isclose(self.answer["mean"], self.mean, rel_tol=1e-9)
        return self.last.complete and close and math.isclose(self.answer["spread"], self.spread, rel_tol=1e-9)


def recompute(catalog: Catalog, event: LiveEvent, stream: str, column: str) -> Recalled | None:
    """None if the event has no answer yet."""
    revisions = catalog.revisions(event.eid)
    if not revisions or revisions[-1].covered_from is None:
        return None
    last = revisions[-1]
    server = json.loads(event.columns)["server"]
    values = []
    for chunk in catalog.chunks(stream, ["open", "sealed"]):
        rows = read_table(chunk.path, chunk.delta_version, ["at", "server", column])
        at = rows["at"].cast(pa.int64()).to_numpy()
        mine = rows["server"].to_numpy(zero_copy_only=False) == server
        inside = mine & (at >= (last.covered_from or 0)) & (at < (last.covered_to or 0))
        values.append(rows[column].to_numpy()[inside].astype(np.float64))
    every = np.concatenate(values)
    return Recalled(event, revisions[0], last, float(every.mean()), float(every.std(ddof=1)))
