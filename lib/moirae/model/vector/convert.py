"""Arrow columns as numpy arrays with a validity mask, and back. NaN stays NaN: it is a number, not a NULL."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Value = Any  # pa.Array or pa.Scalar; pyarrow carries no types
Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def length(*values: Value) -> int:
    """Rows of the arrays among the values."""
    return next(len(value) for value in values if isinstance(value, pa.Array))


def column(value: Value, rows: int) -> pa.Array:
    """The value as a column."""
    return value if isinstance(value, pa.Array) else pa.repeat(value, rows)


def numbers(value: Value, rows: int) -> tuple[Numbers, Mask]:
    """Values (0 for NULL) and which of them are valid. Times and intervals become microseconds."""
    array = column(value, rows)
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.cast(pa.int64())
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    filled = array if array.null_count == 0 else pc.fill_null(array, pa.scalar(0, pa.int64()).cast(array.type))
    return filled.to_numpy(zero_copy_only=False), valid


def array(values: Numbers, valid: Mask, type_: pa.DataType) -> pa.Array:
    """A column of numpy values; NULL where not valid."""
    stored = pa.int64() if pa.types.is_timestamp(type_) or pa.types.is_duration(type_) else type_
    return pa.array(values, mask=~valid, type=stored).cast(type_)
