"""The kernel contract: what every kind of event query is to the host that runs it.

A kernel is a frozen spec. It holds no rows, reads no clock and does no I/O: `advance` takes the state of one bucket
(all keys that hash to it) and some rows, and gives back the next state and the output that became certain. The host
guarantees

- rows come in (`at`, `pos`) order, each exactly once, never below a watermark already given;
- after `advance(…, watermark)` no row below `watermark` will come: what depends only on such rows must be given out;
- `key` ids are dense, stay the same between calls, and are renumbered only through `rekey`.

Cutting the rows differently into calls must not change the concatenated output: that is what makes live detection,
materialisation and reprocessing agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

NO_WATERMARK = -(2**63)
END_OF_TIME = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of one bucket, in (at, pos) order. `key` is the id of the row's partition key in the bucket."""

    key: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]
    pos: npt.NDArray[np.int64]
    columns: pa.Table

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True)
class Output:
    """What a kernel found: `identity` tells two outputs of one key apart, and is the same in every replay."""

    key: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]
    identity: npt.NDArray[np.int64]
    columns: pa.Table

    def __len__(self) -> int:
        return len(self.at)


class Kernel(Protocol):
    """One event query, compiled. State is flat arrays; only the kernel itself looks inside."""

    def start(self) -> Any: ...

    def advance(self, state: Any, rows: Rows, n_keys: int, watermark: int) -> tuple[Any, Output]: ...

    def live_keys(self, state: Any, n_keys: int) -> npt.NDArray[np.bool_]:
        """Which keys the state still needs; the host forgets the others."""
        ...

    def rekey(self, state: Any, new_ids: npt.NDArray[np.int32]) -> Any:
        """The same state after the host renumbered its keys (-1: forgotten)."""
        ...

    def dump(self, state: Any) -> pa.Table: ...

    def load(self, table: pa.Table) -> Any: ...
