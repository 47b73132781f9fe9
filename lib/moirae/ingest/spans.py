"""Where the values of a block stand in its bytes: what a scanner, who knows the grammar of its format, has to find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from moirae.ingest.lines import Bytes, Mask

Grid = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.uint8]

# What a span holds: nothing, null, a bare word or number, a text as it stands between its quotes, one with JSON's
# escapes, one with CSV's doubled quotes, or what no column takes. Numba's cache of a loop sees changes of no other file
# than the loop's own: when these change, touch all who use them.
ABSENT, NULL, BARE, QUOTED, ESCAPED, DOUBLED, OTHER = 0, 1, 2, 4, 8, 16, 32


@dataclass(frozen=True, slots=True)
class Spans:
    """The values of the lines that were taken, by column and row, as [start, stop) without quotes; `taken` by line."""

    data: Bytes
    start: Grid
    stop: Grid
    kind: Kinds
    taken: Mask

    @classmethod
    def empty(cls, data: Bytes, columns: int, lines: int) -> Spans:
        """Room for all lines. A scanner clears a row before it fills it."""
        shape = (columns, lines)
        places = np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.uint8)
        return cls(data, *places, np.zeros(lines, np.bool_))

    def first(self, rows: int) -> Spans:
        """The rows that were filled."""
        return Spans(self.data, self.start[:, :rows], self.stop[:, :rows], self.kind[:, :rows], self.taken)
