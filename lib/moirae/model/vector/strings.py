"""Texts: characters are code points, positions start at 1, only blanks are trimmed."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.vector.convert import Value


def concat(*parts: Value) -> Value:
    return pc.binary_join_element_wise(*parts, pa.scalar("", pa.string()), null_handling="emit_null")


def substring(value: Value, start: Value, size: Value | None = None) -> Value:
    """From a position (negative: from the end; 0 is 1), so many characters or to the end."""
    first, count = start.as_py(), None if size is None else size.as_py()
    if first is None or (size is not None and count is None):
        return pa.nulls(len(value), pa.string())
    begin = first - 1 if first > 0 else first
    if count is None:
        return pc.utf8_slice_codeunits(value, begin)
    end = begin + max(count, 0)
    if begin < 0 <= end:  # counted from the end and reaching past it
        return pc.utf8_slice_codeunits(value, begin)
    return pc.utf8_slice_codeunits(value, begin, end)


def trim(value: Value) -> Value:
    return pc.utf8_trim(value, " ")


def like(value: Value, pattern: Value) -> Value:
    if not pattern.is_valid:
        return pa.nulls(len(value), pa.bool_())
    return pc.match_like(value, pattern.as_py())


def characters(value: Value) -> Value:
    return pc.cast(pc.utf8_length(value), pa.int32())
