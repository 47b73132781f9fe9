"""One value of one line in the type of its column, or the reason why it has none there.

Strict: a value is in the type or it is wrong, nothing is rounded, cut or guessed. All reasons about values are made
here. Texts of numbers come as they stand in the file, so the reasons show them unchanged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from moirae.ingest.moments import moment
from moirae.model.query import StreamDef
from moirae.model.schema import Type

Scalar = bool | int | float | str | None
Row = tuple[Scalar, ...]
Converter = Callable[[object], Scalar]
Converters = Mapping[Type, Converter]

_SHOWN = 60  # characters of a found value in a reason
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


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


def row_of(stream: StreamDef, values: Mapping[str, object], converters: Converters) -> Row:
    """The values in the order and types of the stream's columns; a LineError names everything that is wrong."""
    row: list[Scalar] = []
    wrong: list[str] = []
    for column in stream.schema.columns:
        name, value = column.name, values.get(column.name)
        try:
            row.append(None if value is None else converters[column.type](value))
        except WrongValue as found:
            wrong.append(f"{name}: expected {_name(column.type)}, found {shown(value)}{found.note}")
            continue
        if name == stream.time and row[-1] is None:
            wrong.append(f"{name}: expected {_name(column.type)}, found null" if name in values else f"{name}: missing")
    if wrong:
        raise LineError("; ".join(wrong))
    return tuple(row)


def _name(type_: Type) -> str:
    return "a TIMESTAMP" if type_ is Type.TIMESTAMP else type_.value


def _is(kind: type, convert: Callable[[Any], Scalar]) -> Converter:
    """A converter for values of exactly this kind: a Number is no str here, and True no number."""

    def apply(value: object) -> Scalar:
        if type(value) is not kind:
            raise WrongValue
        return convert(value)

    return apply


def _bare(convert: Callable[[str], Scalar]) -> Converter:
    """A converter for CSV fields: blanks around the value do not count, and nothing else is NULL."""

    def apply(value: object) -> Scalar:
        bare = str(value).strip(" \t")
        return convert(bare) if bare else None

    return apply


def _integer(bits: int) -> Callable[[str], int]:
    limit = 1 << bits
    longest = len(str(limit))

    def convert(text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise WrongValue
        # An integer of more digits cannot fit, and Python refuses to read very long ones.
        digits = text.lstrip("+-").lstrip("0") or "0"
        size = int(digits) if len(digits) <= longest else limit + 1
        value = -size if text[0] == "-" else size
        if not -limit <= value < limit:
            raise WrongValue(" (out of range)")
        return value

    return convert


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


FROM_JSON: Converters = {
    Type.BOOLEAN: _is(bool, bool),
    Type.INT: _is(Number, _integer(31)),
    Type.BIGINT: _is(Number, _integer(63)),
    Type.DOUBLE: _is(Number, _double),
    Type.STRING: _is(str, _text),
    Type.TIMESTAMP: _is(str, _time),
}
FROM_CSV: Converters = {
    Type.BOOLEAN: _bare(_truth),
    Type.INT: _bare(_integer(31)),
    Type.BIGINT: _bare(_integer(63)),
    Type.DOUBLE: _bare(_double),
    Type.STRING: str,
    Type.TIMESTAMP: _bare(_time),
}


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
