"""Tasks whose rows overlap read them once.

Tasks that agree in their parameters and in one end of their range form a chain, shortest range first: each is the one
before it plus the rows it adds. Newest turns share their lower end, oldest turns their upper one, all others both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moirae.recall.partials import Partial, merge

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Chains:
    """Distinct tasks in chain order: `starts` and `ends` of the rows each adds, and whether it goes on a chain."""

    chosen: Ints  # a task of each kind
    starts: Ints
    ends: Ints
    goes_on: npt.NDArray[np.bool_]
    kind: Ints  # of every task, its place among the chosen

    def resolve(self, added: Sequence[Partial]) -> list[Partial]:
        """The partial of every task, from the partials of the rows added."""
        whole: list[Partial] = []
        for part, goes_on in zip(added, self.goes_on.tolist(), strict=True):
            whole.append(merge(whole[-1], part) if goes_on else part)
        return [whole[place] for place in self.kind.tolist()]


def chain(starts: Ints, ends: Ints, params: pa.Table) -> Chains:
    """Chains of tasks with these ranges of rows; `params` are the values that matter on the rows."""
    by_start = len(np.unique(starts)) <= len(np.unique(ends))
    fixed, moving = (starts, ends) if by_start else (ends, -starts)
    kinds = np.stack([*(_codes(column) for column in params.columns), fixed, moving], axis=1)
    kinds, chosen, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    goes_on = np.append(False, (kinds[1:, :-1] == kinds[:-1, :-1]).all(axis=1))
    starts, ends = starts[chosen], ends[chosen]
    if by_start:
        starts = np.where(goes_on, np.roll(ends, 1), starts)
    else:
        ends = np.where(goes_on, np.roll(starts, 1), ends)
    return Chains(chosen, starts, ends, goes_on, kind.reshape(-1))


def _codes(column: pa.ChunkedArray) -> Ints:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy()).astype(np.int64)
