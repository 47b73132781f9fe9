"""Window kernels: columns in, columns out; time comes from the rows and the watermark, never from a clock."""

from moirae.windows.hopping import HoppingAggregate

__all__ = ["HoppingAggregate"]
