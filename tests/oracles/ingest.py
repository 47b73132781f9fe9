"""Landing files read the plain way: one line after the other, one character after the other where need be.

Shares nothing with the parser: what is a row, and with which values, is said here a second time. Reasons are not.
"""

from __future__ import annotations

import json
import math
import re
from datetime import date
from typing import Any

from moirae.model.query import StreamDef
from moirae.model.schema import Type

Rows = list[tuple[Any, ...]]
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|([+-])(\d\d)(?::?(\d\d))?)?)?", re.ASCII
)
_EPOCH = date(1970, 1, 1).toordinal()


class NoRow(Exception):  # noqa: N818
    """The line is none."""


class Number:
    def __init__(self, text: str) -> None:
        self.text = text


class Thing:
    """An object of JSON: its pairs."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def read(content: bytes, format_: str, stream: StreamDef) -> tuple[Rows, list[int]]:
    """Rows, each with the number of its line at the end, and the numbers of the bad lines."""
    data = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = [(n, line.removesuffix(b"\r")) for n, line in enumerate(data, 1) if line.strip(b" \t\r")]
    header: list[str] | None = None
    if format_ == "csv" and lines:
        try:
            header = header_of(lines[0][1], stream)
        except NoRow:
            return [], [number for number, _ in lines]
        lines = lines[1:]
    rows: Rows = []
    bad: list[int] = []
    for number, line in lines:
        try:
            rows.append((*(json_row(line, stream) if header is None else csv_row(line, header, stream)), number))
        except NoRow:
            bad.append(number)
    return rows, bad


def text_of(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise NoRow from None


def refuse(word: str) -> Any:
    raise NoRow(word)


def json_row(line: bytes, stream: StreamDef) -> tuple[Any, ...]:
    try:
        found = json.loads(
            text_of(line), object_pairs_hook=Thing, parse_int=Number, parse_float=Number, parse_constant=refuse
        )
    except ValueError:
        raise NoRow from None
    if not isinstance(found, Thing):
        raise NoRow
    row = []
    for column in stream.schema:
        given = [value for key, value in found.pairs if key.lower() == column.name]
        if len(given) > 1:
            raise NoRow
        row.append(json_value(given[0] if given else None, column.type))
    return whole(row, stream)


def json_value(value: Any, type_: Type) -> Any:
    if value is None:
        return None
    if type_ is Type.BOOLEAN and isinstance(value, bool):
        return value
    if type_ in (Type.INT, Type.BIGINT, Type.DOUBLE) and isinstance(value, Number):
        return number(value.text, type_)
    if type_ is Type.TIMESTAMP and isinstance(value, str):
        return micros(value)
    if type_ is Type.STRING and isinstance(value, str) and not any(0xD800 <= ord(c) < 0xE000 for c in value):
        return value
    raise NoRow


def number(text: str, type_: Type) -> int | float:
    if type_ is Type.DOUBLE:
        if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) or math.isinf(float(text)):
            raise NoRow
        return float(text)
    if not re.fullmatch(r"[+-]?\d{1,400}", text, re.ASCII):
        raise NoRow
    bits = 31 if type_ is Type.INT else 63
    if not -(2**bits) <= int(text) <= 2**bits - 1:
        raise NoRow
    return int(text)


def micros(text: str) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise NoRow
    year, month, day, hour, minute, second = (int(found[i] or 0) for i in range(1, 7))
    zone_hour, zone_minute = int(found[10] or 0), int(found[11] or 0)
    if hour > 23 or minute > 59 or second > 59 or zone_hour > 18 or zone_minute > 59:
        raise NoRow
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        raise NoRow from None
    zone = (zone_hour * 60 + zone_minute) * (-1 if found[9] == "-" else 1)
    total = ((days * 24 + hour) * 60 + minute - zone) * 60 + second
    at = total * 1_000_000 + int((found[7] or "").ljust(6, "0")[:6])
    first, last = (date.min.toordinal() - _EPOCH) * 86_400_000_000, (date.max.toordinal() + 1 - _EPOCH) * 86_400_000_000
    if not first <= at < last:
        raise NoRow
    return at


def whole(row: list[Any], stream: StreamDef) -> tuple[Any, ...]:
    if row[stream.schema.names.index(stream.time)] is None:
        raise NoRow
    return tuple(row)


def header_of(line: bytes, stream: StreamDef) -> list[str]:
    names = [(field or "").strip().lower() for field in fields(text_of(line))]
    if stream.time not in names or any(names.count(name) > 1 for name in stream.schema.names):
        raise NoRow
    return names


def csv_row(line: bytes, header: list[str], stream: StreamDef) -> tuple[Any, ...]:
    values = fields(text_of(line))
    if len(values) != len(header):
        raise NoRow
    given = dict(zip(header, values, strict=True))
    return whole([csv_value(given.get(column.name), column.type) for column in stream.schema], stream)


def csv_value(value: str | None, type_: Type) -> Any:
    if value is None or type_ is Type.STRING:
        return value
    bare = value.strip(" \t")
    if not bare:
        return None
    if type_ is Type.TIMESTAMP:
        return micros(bare)
    if type_ is not Type.BOOLEAN:
        return number(bare, type_)
    if bare.lower() not in ("true", "false"):
        raise NoRow
    return bare.lower() == "true"


def fields(text: str) -> list[str | None]:
    """A machine with three states: in a bare field, inside quotes, behind the closing quote."""
    found: list[str | None] = []
    state, field = "bare", ""
    rest = list(text)
    while rest:
        letter = rest.pop(0)
        if state == "inside":
            if letter != '"':
                field += letter
            elif rest[:1] == ['"']:
                field += rest.pop(0)
            else:
                state = "behind"
        elif letter == ",":
            found.append(field if field or state == "behind" else None)
            state, field = "bare", ""
        elif letter == '"' and state == "bare" and not field:
            state = "inside"
        elif letter == '"' or state == "behind":
            raise NoRow
        else:
            field += letter
    if state == "inside":
        raise NoRow
    return [*found, field if field or state == "behind" else None]
