"""Rows as lines of a landing file, column by column.

JSON lines carry times as ISO 8601 in UTC with microseconds, `{"at":"2026-07-06T00:00:01.577732Z","server":"s35",...}`;
CSV carries the same times under a header. A malformed line is a clean row spoilt in one of five ways, all of which no
honest reader can take for a row. Names hold no quotes, commas or control characters, so nothing needs escaping.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

MALFORMED = ("broken_line", "missing_at", "null_at", "wrong_type", "garbage")
_CUTS = (-2, -9, -31)  # from the end of a line: the brace alone, into the last value, into the middle
_GARBAGE = "\u00a7\u00bf%$ }{ ]<!-- 0x%\ufffd"

Texts = Mapping[str, "pa.Array | str"]


def clean_lines(table: pa.Table, form: str) -> pa.Array:
    """One line a row, line end included.

    >>> rows = pa.table({"at": pa.array([0], pa.timestamp("us", "UTC")), "server": ["s1"], "bytes": [7]})
    >>> clean_lines(rows, "jsonl")[0].as_py()
    '{"at":"1970-01-01T00:00:00.000000Z","server":"s1","bytes":7}\\n'
    >>> clean_lines(rows, "csv")[0].as_py()
    '1970-01-01T00:00:00.000000Z,s1,7\\n'
    """
    return _join(table, _texts(table), form)


def malformed_lines(table: pa.Table, kind: str, form: str) -> pa.Array:
    """The same rows, spoilt.

    >>> rows = pa.table({"at": pa.array([0], pa.timestamp("us", "UTC")), "server": ["s1"], "bytes": [7]})
    >>> for kind in ("missing_at", "null_at", "wrong_type"):
    ...     malformed_lines(rows, kind, "jsonl")[0].as_py()
    '{"server":"s1","bytes":7}\\n'
    '{"at":null,"server":"s1","bytes":7}\\n'
    '{"at":"1970-01-01T00:00:00.000000Z","server":"s1","bytes":"many"}\\n'
    """
    texts = _texts(table)
    if kind == "broken_line":
        return _cut(_join(table, texts, form), form)
    if kind == "garbage":
        return pc.binary_join_element_wise(_GARBAGE, texts["server"], "\n", "")
    if kind == "missing_at":
        return _join(table, {name: text for name, text in texts.items() if name != "at"}, form)
    if kind == "null_at":
        return _join(table, texts | {"at": "null" if form == "jsonl" else ""}, form)
    spoilt, word = _wrong(table)
    return _join(table, texts | {spoilt: f'"{word}"' if form == "jsonl" else word}, form)


def _wrong(table: pa.Table) -> tuple[str, str]:
    """A word where a number belongs, or where the time does if there is no number."""
    numeric = [field.name for field in table.schema if not _is_text(field.type)]
    return (numeric[-1], "many") if numeric else ("at", "yesterday")


def _cut(lines: pa.Array, form: str) -> pa.Array:
    """Lines that stop too early; in CSV before the last comma, since a shorter last value would still be one."""
    if form == "csv":
        return pc.replace_substring_regex(lines, r",[^,]*\n$", "\n")
    size = -(-len(lines) // len(_CUTS))
    parts = [pc.utf8_slice_codeunits(lines[i * size : (i + 1) * size], 0, cut) for i, cut in enumerate(_CUTS)]
    return pc.binary_join_element_wise(pa.concat_arrays(parts), "\n", "")


def _texts(table: pa.Table) -> dict[str, pa.Array | str]:
    return {name: _text(table.column(name).combine_chunks()) for name in table.column_names}


def _text(values: pa.Array) -> pa.Array:
    if not pa.types.is_timestamp(values.type):
        return values.cast(pa.string())
    # Without a zone the cast is twenty times faster, and the time is UTC already.
    bare = values.cast(pa.int64()).cast(pa.timestamp("us")).cast(pa.string())
    return pc.binary_join_element_wise(pc.binary_replace_slice(bare, 10, 11, "T"), "Z", "")


def _join(table: pa.Table, texts: Texts, form: str) -> pa.Array:
    pieces = _json_pieces(table, texts) if form == "jsonl" else _csv_pieces(texts)
    return pc.binary_join_element_wise(*pieces, "")


def _json_pieces(table: pa.Table, texts: Texts) -> list[pa.Array | str]:
    pieces: list[pa.Array | str] = []
    before = "{"
    for name, text in texts.items():
        # A text that is one word for all rows is spelled as JSON already.
        quote = '"' if not isinstance(text, str) and _is_text(table.schema.field(name).type) else ""
        pieces += [f'{before}"{name}":{quote}', text]
        before = f"{quote},"
    return [*pieces, before.rstrip(",") + "}\n"]


def _csv_pieces(texts: Texts) -> list[pa.Array | str]:
    pieces = [piece for text in texts.values() for piece in (text, ",")]
    return [*pieces[:-1], "\n"]


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_timestamp(kind))
