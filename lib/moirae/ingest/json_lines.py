"""JSON lines: one object a line, keys in any order and any case, unknown keys ignored."""

from __future__ import annotations

import json
from typing import NoReturn

import pyarrow as pa

from moirae.ingest.convert import FROM_JSON, LineError, Number, Pairs, Row, row_of, shown
from moirae.ingest.lines import Lines, without_end
from moirae.ingest.spans import BARE, ESCAPED, QUOTED
from moirae.model.query import StreamDef
from moirae.model.schema import Type

_KINDS = {**dict.fromkeys(Type, BARE), Type.STRING: QUOTED | ESCAPED, Type.TIMESTAMP: QUOTED}


class JsonLines:
    """Reads the lines of one stream."""

    def __init__(self, stream: StreamDef) -> None:
        self._stream, self._names = stream, frozenset(stream.schema.names)

    def quick(self, lines: Lines) -> tuple[pa.Table, Lines]:
        # Numba takes a second to import, and what only lists files or explains a query need not wait for it.
        from moirae.ingest.columns import rows_of
        from moirae.ingest.json_scan import scan

        return rows_of(self._stream, lines, scan(lines, self._stream.schema), _KINDS)

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
