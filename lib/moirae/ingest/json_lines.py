"""JSON lines: one object a line, keys in any order and any case, unknown keys ignored.

Programs write their keys in one order, so the quick way learns that order from a few lines of the block and makes a
regular expression of it: the time must be there, every other known key may be absent. Lines that match are flat,
complete, free of repeated keys and of values Arrow reads otherwise than we do; Arrow's reader takes them in one go.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from moirae.ingest.convert import FROM_JSON, LineError, Number, Pairs, Row, row_of, shown
from moirae.ingest.lines import Lines, without_end
from moirae.ingest.moments import MOMENT
from moirae.ingest.reader import quick_types, take_quick
from moirae.model.query import StreamDef
from moirae.model.schema import Type

_SAMPLES, _TEMPLATES = 8, 4  # lines looked at for an order of keys; orders tried in a block
_NESTED = 8  # unknown keys with arrays or objects: each makes the pattern much larger, and slow in the end
_B = r"[ \t]*"
_HEX = "[0-9a-fA-F]"
_PLAIN = rf"u(?:[0-9a-ce-fA-CE-F]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}})"
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_STRING = rf'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|{_PLAIN}|{_PAIR}))*"'
_REAL = r"-?(?:0|[1-9][0-9]{0,23})(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,2})?"
_SCALAR = rf"(?:{_STRING}|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{{1,2}})?|true|false|null)"
_FLAT = (
    rf"(?:{_SCALAR}|\[{_B}(?:{_SCALAR}(?:{_B},{_B}{_SCALAR})*)?{_B}\]"
    rf"|\{{{_B}(?:{_STRING}{_B}:{_B}{_SCALAR}(?:{_B},{_B}{_STRING}{_B}:{_B}{_SCALAR})*)?{_B}\}})"
)
# Never more digits than surely fit: longer numbers are looked at one by one.
_VALUES = {
    Type.BOOLEAN: "true|false",
    Type.INT: "-?(?:0|[1-9][0-9]{0,8})",
    Type.BIGINT: "-?(?:0|[1-9][0-9]{0,17})",
    Type.DOUBLE: _REAL,
    Type.STRING: _STRING,
    Type.TIMESTAMP: f'"{MOMENT}"',
}

Keys = tuple[tuple[str, bool], ...]  # as spelled, and whether an array or object was seen there


class JsonLines:
    """Reads the lines of one stream."""

    def __init__(self, stream: StreamDef) -> None:
        self._stream, self._names = stream, frozenset(stream.schema.names)

    def quick(self, lines: Lines) -> tuple[list[pa.Table], Lines]:
        tables, rest = [], lines
        for _ in range(_TEMPLATES):
            keys = _usual_keys(rest, self._stream)
            if keys is None:
                break
            template = _Template.of(keys, self._stream)
            rows, taken = take_quick(self._stream, rest, template.pattern, template.columns)
            if not taken.any():
                break
            tables.append(rows)
            rest = rest.keep(~taken)
        return tables, rest

    def careful(self, line: str) -> Row:
        known: dict[str, object] = {}
        for key, value in _object(line):
            name = key.lower()
            if name not in self._names:
                continue
            if name in known:
                raise LineError(f"{name}: given twice")
            known[name] = value
        return row_of(self._stream, known, FROM_JSON)


def _object(line: str) -> Pairs:
    try:
        value = _DECODER.decode(without_end(line))
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}") from None
    except RecursionError:
        raise LineError("not JSON: nested too deeply") from None
    if not isinstance(value, Pairs):
        found = f"the number {value}" if isinstance(value, Number) else shown(value)
        raise LineError(f"expected a JSON object, found {found}")
    return value


def _no_constant(word: str) -> NoReturn:
    raise LineError(f"not JSON: {word} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=_no_constant)


def _usual_keys(lines: Lines, stream: StreamDef) -> Keys | None:
    """The longest list of keys among a few lines from all over the block; None if none of them is a plain object."""
    if not len(lines):
        return None
    samples = lines.text.take(pa.array(np.unique(np.linspace(0, len(lines) - 1, _SAMPLES, dtype=np.int64))))
    found = [keys for line in samples.to_pylist() if (keys := _keys(line, stream))]
    return max(found, key=len, default=None)


def _keys(line: str, stream: StreamDef) -> Keys | None:
    try:
        keys = tuple((key, isinstance(value, list)) for key, value in _object(line))
    except LineError:
        return None
    names = [key.lower() if key.lower() in stream.schema else key for key, _ in keys]
    plain = all(json.dumps(key, ensure_ascii=False) == f'"{key}"' and _encodable(key) for key, _ in keys)
    timed = stream.time in names or stream.time not in stream.schema
    usable = plain and timed and any(name in stream.schema for name in names) and len(set(names)) == len(names)
    return keys if usable and sum(nested for _, nested in keys) <= _NESTED else None


def _encodable(key: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in key)


@dataclass(frozen=True)
class _Template:
    """An order of keys, as a pattern for whole lines and as the columns Arrow is to read."""

    pattern: str
    options: Any  # pa_json.ParseOptions

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, keys: Keys, stream: StreamDef) -> _Template:
        known = {key: key.lower() for key, _ in keys if key.lower() in stream.schema}
        schema = quick_types(stream.schema, known)
        options = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        return cls(_line_pattern(keys, stream), options)

    def columns(self, content: pa.Buffer) -> dict[str, pa.Array]:
        options = pa_json.ReadOptions(use_threads=False, block_size=content.size + 1)
        table = pa_json.read_json(pa.BufferReader(content), read_options=options, parse_options=self.options)
        return {name.lower(): table.column(name).combine_chunks() for name in table.column_names}


def _line_pattern(keys: Keys, stream: StreamDef) -> str:
    """The keys in order; all but the time, and the comma between it and them, may be left out."""
    pairs = [_pair(key, nested, stream) for key, nested in keys]
    names = [key.lower() for key, _ in keys]
    pivot = names.index(stream.time) if stream.time in names else 0
    before = "".join(f"(?:{pair}{_B},{_B})?" for pair in pairs[:pivot])
    after = "".join(f"(?:{_B},{_B}{pair})?" for pair in pairs[pivot + 1 :])
    return rf"^{_B}\{{{_B}{before}{pairs[pivot]}{after}{_B}\}}{_B}\r?\n?$"


def _pair(key: str, nested: bool, stream: StreamDef) -> str:
    name = key.lower()
    value = _FLAT if nested else _SCALAR
    if name in stream.schema:
        value = f"(?:{_VALUES[stream.schema[name]]}{'' if name == stream.time else '|null'})"
    return f'"{re.escape(key)}"{_B}:{_B}{value}'
