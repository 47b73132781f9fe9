"""Partition keys: a canonical text for each, dense ids within a bucket, and the bucket a key belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.evaluate import evaluate
from moirae.model.hashing import hash_strings, real_bits
from moirae.model.query import Output

_SEPARATOR, _NULL = "\x1f", "\x00"
_ESCAPES = {"\x01": "\x01e", _NULL: "\x01n", _SEPARATOR: "\x01s"}  # the escape itself first
_FIRST_PLAIN = 0x20  # no byte below it: nothing to escape


def key_columns(keys: tuple[Output, ...], rows: pa.Table) -> pa.Table:
    """The key expressions' values for each row; -0.0 is shown as 0.0, since both are one key, as in Spark."""
    arrays = {key.name: evaluate(key.expr, rows) for key in keys}
    for name, values in arrays.items():
        if pa.types.is_floating(values.type):
            arrays[name] = pc.add(values, 0.0)
    return pa.table(arrays) if arrays else pa.table({"_": pa.nulls(rows.num_rows)}).select([])


def key_text(columns: pa.Table, n_rows: int) -> pa.Array:
    """One text a row, different for different keys; NULL is a key like any other.

    >>> key_text(pa.table({"a": ["x", None], "b": [1, 2]}), 2).to_pylist()
    ['x\\x1f1', '\\x00\\x1f2']
    """
    parts = [_part(column.combine_chunks()).fill_null(_NULL) for column in columns.columns]
    if not parts:
        return pa.array([""], pa.string()).take(pa.array(np.zeros(n_rows, np.int8)))
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, _SEPARATOR)


def _part(values: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.int64()).cast(pa.string())
    if pa.types.is_floating(values.type):
        return pa.array(real_bits(values), mask=np.asarray(values.is_null())).cast(pa.string())
    return _escaped(values) if pa.types.is_string(values.type) else values.cast(pa.string())


def _escaped(texts: pa.Array) -> pa.Array:
    """Without the bytes that stand for NULL and between columns. A look at the raw bytes spares nearly all the work."""
    data = texts.buffers()[2]
    if data is None or not data.size or np.frombuffer(data, np.uint8).min() >= _FIRST_PLAIN:
        return texts
    for found, written in _ESCAPES.items():
        texts = pc.replace_substring(texts, found, written)
    return texts


def bucket_of(text: pa.Array, buckets: int) -> npt.NDArray[np.int32]:
    if buckets == 1:
        return np.zeros(len(text), np.int32)
    return (hash_strings(text) % np.uint64(buckets)).astype(np.int32)


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of a bucket: id i stands for row i."""

    text: pa.Array
    columns: pa.Table

    @classmethod
    def start(cls, keys: tuple[Output, ...]) -> KeyTable:
        schema = pa.schema([pa.field(key.name, key.expr.type.arrow) for key in keys])
        return cls(pa.array([], pa.string()), schema.empty_table())

    def __len__(self) -> int:
        return len(self.text)

    def intern(self, text: pa.Array, columns: pa.Table) -> tuple[KeyTable, npt.NDArray[np.int32]]:
        """The table with these rows' keys added, and each row's key id."""
        if len(text) == 0:
            return self, np.empty(0, np.int32)
        encoded = text.dictionary_encode()
        known = pc.index_in(encoded.dictionary, self.text)
        fresh = np.asarray(known.is_null())
        ids = np.asarray(known.fill_null(0)).astype(np.int32)
        ids[fresh] = len(self) + np.arange(int(fresh.sum()), dtype=np.int32)
        code = np.asarray(encoded.indices)
        table = self
        if fresh.any():
            first_row = np.zeros(len(encoded.dictionary), np.int64)
            first_row[code[::-1]] = np.arange(len(code) - 1, -1, -1)
            new = pa.array(first_row[fresh])
            added = columns.take(new) if columns.num_columns else columns
            table = KeyTable(
                pa.concat_arrays([self.text, encoded.dictionary.filter(pa.array(fresh))]),
                pa.concat_tables([self.columns, added]).combine_chunks() if columns.num_columns else self.columns,
            )
        return table, ids[code]

    def keep(self, live: npt.NDArray[np.bool_]) -> tuple[KeyTable, npt.NDArray[np.int32]]:
        """The table with only the live keys, and the new id of each old one (-1: gone)."""
        new_ids = np.where(live, np.cumsum(live) - 1, -1).astype(np.int32)
        mask = pa.array(live)
        columns = self.columns.filter(mask) if self.columns.num_columns else self.columns
        return KeyTable(self.text.filter(mask), columns), new_ids
