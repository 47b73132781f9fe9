"""Types and quantities as they are written: names of types, durations, sizes and counts, or a refusal with the cure."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from moirae.lang.source import Report, nearest
from moirae.lang.statements import Name, Quantity
from moirae.model.schema import Type
from moirae.model.units import parse_duration, parse_size

_TYPES = {
    "boolean": Type.BOOLEAN,
    "int": Type.INT,
    "integer": Type.INT,
    "bigint": Type.BIGINT,
    "long": Type.BIGINT,
    "double": Type.DOUBLE,
    "string": Type.STRING,
    "timestamp": Type.TIMESTAMP,
}
_INSTEAD = {
    "bool": "BOOLEAN",
    "float": "DOUBLE",
    "real": "DOUBLE",
    "decimal": "DOUBLE",
    "dec": "DOUBLE",
    "numeric": "DOUBLE",
    "tinyint": "INT",
    "byte": "INT",
    "smallint": "INT",
    "short": "INT",
    "varchar": "STRING",
    "char": "STRING",
    "text": "STRING",
    "date": "TIMESTAMP",
    "datetime": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP",
}
_SQLGLOT = {
    exp.DType.BOOLEAN: Type.BOOLEAN,
    exp.DType.INT: Type.INT,
    exp.DType.BIGINT: Type.BIGINT,
    exp.DType.DOUBLE: Type.DOUBLE,
    exp.DType.TEXT: Type.STRING,
    exp.DType.TIMESTAMPTZ: Type.TIMESTAMP,
}
_EXPECTED = "BOOLEAN, INT, BIGINT, DOUBLE, STRING or TIMESTAMP"
_LONGEST = 1 << 62  # microseconds: some 146 thousand years, so that sums of two cannot overflow


def type_named(name: Name, report: Report) -> Type | None:
    """The type of a column definition."""
    known = _TYPES.get(name.text)
    if known is None:
        instead = _INSTEAD.get(name.text)
        remedy = f"write {instead}" if instead else nearest(name.text.upper(), (t.upper() for t in _TYPES), "types")
        report.add(name.at, _EXPECTED, f"'{name.text}'", remedy)
    return known


def type_of_cast(node: exp.Expr, at: int, report: Report) -> Type | None:
    """The type a CAST names."""
    plain = isinstance(node, exp.DataType) and not node.expressions
    known = _SQLGLOT.get(node.this) if plain else None
    if known is None:
        written = getattr(node.this, "value", "another type") if isinstance(node, exp.DataType) else "another type"
        instead = _INSTEAD.get(str(written).lower())
        report.add(at, _EXPECTED, f"a cast to {written}", f"write {instead}" if instead else "use one of these types")
    return known


def duration(quantity: Quantity, report: Report, *, zero: bool = False) -> int | None:
    """Microseconds of a quoted duration."""
    return _quantity(quantity, report, parse_duration, "a duration", "such as '5 minutes' or '30 days'", zero)


def size(quantity: Quantity, report: Report) -> int | None:
    """Bytes of a quoted size."""
    return _quantity(quantity, report, parse_size, "a size", "such as '128 MiB'", False)


def _quantity(
    quantity: Quantity, report: Report, read: Callable[[str], int], what: str, example: str, zero: bool
) -> int | None:
    written = f"'{quantity.text}'"
    try:
        value = read(quantity.text)
    except (ValueError, OverflowError):
        report.add(quantity.at, what, written, f"write a number and a unit, {example}")
        return None
    if value > _LONGEST or (value <= 0 and not zero):
        report.add(quantity.at, f"{what} above zero that fits", written, f"write a number and a unit, {example}")
        return None
    return value


def count(quantity: Quantity, report: Report) -> int | None:
    """A whole number above zero."""
    if quantity.text.isdecimal() and int(quantity.text[:12]) > 0 and len(quantity.text) <= 9:
        return int(quantity.text)
    report.add(quantity.at, "a whole number above zero", f"'{quantity.text}'", "write a number such as 8")
    return None
