"""Partials as bytes: a version number, then one Arrow table with a row a group.

What is loaded equals what was dumped. A dump of another shape (the recall was changed) or version is refused.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa

from moirae.model.schema import Type
from moirae.recall.partials import Part, Partial, Shape
from moirae.recall.states import RULES, Field, State, plain

VERSION = 1


def dump(partial: Partial) -> bytes:
    """The partial as bytes."""
    schema = _schema(partial.shape)
    columns = [
        _stored([key[place] for key in partial.groups], schema[place].type) for place in range(len(partial.shape.keys))
    ]
    for place, part in enumerate(partial.shape.parts):
        for index in range(len(RULES[part.function].fields)):
            values = [states[place][index] for states in partial.groups.values()]
            columns.append(_stored(values, schema[len(columns)].type))
    present = pa.array([True] * len(partial.groups), pa.bool_())  # a group may have neither keys nor aggregates
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(pa.Table.from_arrays([*columns, present], schema=schema))
    return bytes([VERSION]) + bytes(sink.getvalue())


def load(data: bytes, shape: Shape) -> Partial:
    """The partial of a shape from its bytes."""
    if not data or data[0] != VERSION:
        found = f"version {data[0]}" if data else "nothing"
        raise ValueError(f"a partial of version {VERSION} expected, but found {found}; start the task anew")
    table = pa.ipc.open_stream(memoryview(data)[1:]).read_all()
    if table.schema != _schema(shape):
        found = ", ".join(table.schema.names)
        raise ValueError(f"a partial of {_schema(shape).names} expected, but found {found}; start the task anew")
    columns = [_read(column.combine_chunks()) for column in table.columns]
    keys = list(zip(*columns[: len(shape.keys)], strict=True)) if shape.keys else [()] * table.num_rows
    return Partial(shape, dict(zip(keys, _states(shape, columns[len(shape.keys) : -1], table.num_rows), strict=True)))


def _states(shape: Shape, columns: list[list[Any]], groups: int) -> list[tuple[State, ...]]:
    parts: list[list[State]] = []
    for part in shape.parts:
        width = len(RULES[part.function].fields)
        fields, columns = columns[:width], columns[width:]
        if RULES[part.function].fields[0] == "total" and part.argument is not Type.DOUBLE:
            fields[0] = [None if text is None else int(text) for text in fields[0]]
        parts.append(list(zip(*fields, strict=True)))
    return list(zip(*parts, strict=True)) if parts else [()] * groups


def _schema(shape: Shape) -> pa.Schema:
    fields = [pa.field(f"key {column.name}", column.type.arrow) for column in shape.keys]
    for part in shape.parts:
        stored = RULES[part.function].fields
        fields += [pa.field(f"{part.function} {part.name} {i}", _type(part, field)) for i, field in enumerate(stored)]
    return pa.schema([*fields, pa.field("present", pa.bool_())])


def _type(part: Part, field: Field) -> pa.DataType:
    value = (part.argument or part.type).arrow
    match field:
        case "count":
            return pa.int64()
        case "real":
            return pa.float64()
        case "value":
            return value
        case "values":
            return pa.list_(value)
        case "total":  # whole sums outgrow 64 bits, so they are written as digits
            return pa.float64() if part.argument is Type.DOUBLE else pa.string()


def _stored(values: list[Any], type_: pa.DataType) -> pa.Array:
    if pa.types.is_string(type_):
        values = [value if value is None or isinstance(value, str) else str(value) for value in values]
    if pa.types.is_list(type_):
        values = [list(members) for members in values]
    return pa.array(values, type_)


def _read(array: pa.Array) -> list[Any]:
    if not pa.types.is_list(array.type):
        return plain(array)
    members, ends = plain(array.flatten()), array.offsets.to_pylist()
    return [frozenset(members[start:end]) for start, end in pairwise(ends)]
