"""One value of one line in the type of its column, or the reason why it has none there.

Strict: a value is in the type or it is wrong, nothing is rounded, cut or guessed. All reasons about values are made
here. Texts of numbers come as they stand in the file, so the reasons show them unchanged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from moirae.ingest.moments import moment
from moirae.model.query import StreamDef
from moirae.model.schema import Type

Scalar = bool | int | float | str | None
Row = tuple[Scalar, ...]

_SHOWN = 60  # characters of a found value in a reason
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BITS = {Type.INT: 31, Type.BIGINT: 63}


class LineError(ValueError):
    """Why a line is no row, in one line."""


class Number(str):
    """A JSON number as it is spelled."""

    __slots__ = ()


class Pairs(list[tuple[str, object]]):
    """A JSON object with its keys in order and as often as they were given."""


class WrongValue(Exception):  # noqa: N818 - it never leaves this module
    """A value that its column cannot take; `note` says more."""

    def __init__(self, note: str = "") -> None:
        self.note = note


def row_of(stream: StreamDef, values: dict[str, object], convert: Callable[[object, Type], Scalar]) -> Row:
    """The values in the order and types of the stream's columns; a LineError names everything that is wrong."""
    row: list[Scalar] = []
    wrong: list[str] = []
    for column in stream.schema:
        value = values.get(column.name)
        try:
            row.append(convert(value, column.type))
        except WrongValue as found:
            wrong.append(f"{column.name}: expected {_name(column.type)}, found {shown(value)}{found.note}")
            continue
        if column.name == stream.time and row[-1] is None:
            given = f"expected {_name(column.type)}, found null" if column.name in values else "missing"
            wrong.append(f"{column.name}: {given}")
    if wrong:
        raise LineError("; ".join(wrong))
    return tuple(row)


def _name(type_: Type) -> str:
    return "a TIMESTAMP" if type_ is Type.TIMESTAMP else type_.value


def from_json(value: object, type_: Type) -> Scalar:
    """
    >>> from_json(Number("7"), Type.DOUBLE), from_json("1970-01-01", Type.TIMESTAMP), from_json(None, Type.INT)
    (7.0, 0, None)
    """
    if value is None:
        return None
    if type_ is Type.BOOLEAN and isinstance(value, bool):
        return value
    if type_.numeric and isinstance(value, Number):
        return _number(value, type_)
    if isinstance(value, str) and not isinstance(value, Number) and not type_.numeric and type_ is not Type.BOOLEAN:
        return _time(value) if type_ is Type.TIMESTAMP else _text(value)
    raise WrongValue


def from_text(value: object, type_: Type) -> Scalar:
    """A CSV field. Blanks around anything but a STRING do not count, and an empty field is NULL.

    >>> from_text(" 7 ", Type.BIGINT), from_text("", Type.BIGINT), from_text("", Type.STRING), from_text("TRUE", Type.BOOLEAN)
    (7, None, '', True)
    """
    if not isinstance(value, str):
        return None
    if type_ is Type.STRING:
        return value
    bare = value.strip(" \t")
    if not bare:
        return None
    if type_ is Type.TIMESTAMP:
        return _time(bare)
    return _number(bare, type_) if type_.numeric else _truth(bare)


def _number(text: str, type_: Type) -> int | float:
    if type_ is Type.DOUBLE:
        return _double(text)
    if not _INTEGER.fullmatch(text):
        raise WrongValue
    # An integer of more digits cannot fit, and Python refuses to read very long ones.
    digits = text.lstrip("+-").lstrip("0") or "0"
    limit = 1 << _BITS[type_]
    value = int(digits) if len(digits) <= len(str(limit)) else limit + 1
    value = -value if text.startswith("-") else value
    if not -limit <= value < limit:
        raise WrongValue(" (out of range)")
    return value


def _double(text: str) -> float:
    if not _DOUBLE.fullmatch(text):
        raise WrongValue
    value = float(text)
    if math.isinf(value):
        raise WrongValue(" (out of range)")
    return value


def _time(text: str) -> int:
    at = moment(text)
    if at is None:
        raise WrongValue
    return at


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise WrongValue
    return text.lower() == "true"


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise WrongValue(" (half of a surrogate pair)") from None
    return text


def shown(value: object) -> str:
    """A found value in a reason, short and on one line.

    >>> shown(Number("3.0")), shown("a\\nb"), shown(None), shown(True), shown([1]), shown(Pairs())
    ('3.0', "'a\\\\nb'", 'null', 'true', 'an array', 'an object')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Pairs):
        return "an object"
    if not isinstance(value, str):
        return "an array"
    text = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    return str(text) if isinstance(value, Number) else repr(text)


def listed(names: Iterable[str]) -> str:
    return ", ".join(shown(name) for name in names)
