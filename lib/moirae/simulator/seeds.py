"""Randomness by name: the same seed and labels give the same numbers, whatever was drawn before.

Rows are drawn in blocks, a day or a fixed part of a day that depends on the density only. A block is always drawn whole
and trimmed afterwards; that is what makes the rows of a span independent of where it was cut.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from moirae.simulator.spec import DAY, Spec

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_PARTS_OF_A_DAY = (1, 4, 24, 144, 1440)
_ROWS_OF_A_BLOCK = 500_000


def generator(seed: int, *labels: str | int) -> np.random.Generator:
    """
    >>> float(generator(1, "traffic", 7).random()) == float(generator(1, "traffic", 7).random())
    True
    """
    words = [zlib.crc32(label.encode()) if isinstance(label, str) else label for label in labels]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))


def block_us(spec: Spec, stream: str) -> int:
    """Length of a block: the longest part of a day with a bounded number of rows, but never less than two samples."""
    interval = spec.interval_us.of(stream)
    fitting = [part for part in _PARTS_OF_A_DAY if DAY // part >= 2 * interval]
    for part in fitting:
        if spec.servers * (DAY // part) // interval <= _ROWS_OF_A_BLOCK:
            return DAY // part
    return DAY // fitting[-1] if fitting else DAY


def blocks(spec: Spec, stream: str) -> Iterator[tuple[int, int]]:
    """[start, end) of every block that the span touches, in order."""
    length = block_us(spec, stream)
    for index in range(spec.start_us // length, -(-spec.end_us // length)):
        yield index * length, (index + 1) * length
