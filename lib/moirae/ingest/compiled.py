"""What the compiled loops over the bytes of a block share."""

from __future__ import annotations

import numba
import numpy as np

from moirae.ingest.lines import Bytes

inlined = numba.njit(forceinline=True)  # a call costs more than what most rules do


@inlined
def byte(data: Bytes, at: int) -> int:
    """The byte at a place never counted from the end: numba's question whether it is costs a tenth of a scan."""
    found: int = data[np.uint64(at)]
    return found
