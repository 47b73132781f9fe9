"""Column types of streams and events: Spark SQL's names, Arrow's columns.

Times are microseconds since the epoch in UTC, everywhere, from the landing file to the console.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa


class Type(Enum):
    """A value's type, spelled as in Spark SQL."""

    BOOLEAN = "BOOLEAN"
    INT = "INT"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    TIMESTAMP = "TIMESTAMP"
    INTERVAL = "INTERVAL"  # only inside expressions: microseconds
    NULL = "VOID"  # only inside expressions: the type of a bare NULL

    @property
    def arrow(self) -> pa.DataType:
        return _ARROW[self]

    @property
    def numeric(self) -> bool:
        return self in (Type.INT, Type.BIGINT, Type.DOUBLE)


_ARROW = {
    Type.BOOLEAN: pa.bool_(),
    Type.INT: pa.int32(),
    Type.BIGINT: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Type.INTERVAL: pa.duration("us"),
    Type.NULL: pa.null(),
}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order; names are unique and lower case."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, **columns: Type) -> Schema:
        """
        >>> Schema.of(at=Type.TIMESTAMP, bytes=Type.BIGINT).ddl
        'at TIMESTAMP, bytes BIGINT'
        """
        return cls(tuple(Column(name, type_) for name, type_ in columns.items()))

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: str) -> bool:
        return any(column.name == name for column in self.columns)

    def __getitem__(self, name: str) -> Type:
        for column in self.columns:
            if column.name == name:
                return column.type
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def arrow(self) -> pa.Schema:
        return pa.schema([pa.field(column.name, column.type.arrow) for column in self.columns])

    @property
    def ddl(self) -> str:
        return ", ".join(f"{column.name} {column.type.value}" for column in self.columns)
