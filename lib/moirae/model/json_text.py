"""JSON objects from columns, one a row, without a Python call a row."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_CONTROL = {chr(code): f"\\u{code:04x}" for code in range(32)} | {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)


def json_objects(table: pa.Table) -> pa.Array:
    """One JSON object a row; NULLs are written as null, times as ISO-8601 in UTC, NaN and infinities as strings.

    >>> json_objects(pa.table({"a": ["x", 'q"y', None], "n": [1, 2, None]})).to_pylist()
    ['{"a": "x", "n": 1}', '{"a": "q\\\\"y", "n": 2}', '{"a": null, "n": null}']
    """
    if table.num_rows == 0:
        return pa.array([], pa.string())
    parts: list[pa.Array | pa.Scalar] = []
    for i, name in enumerate(table.column_names):
        label = pa.array([name]).cast(pa.string())
        prefix = ("{" if i == 0 else ", ") + _quoted(label)[0].as_py() + ": "
        parts += [pa.scalar(prefix), json_values(table[name].combine_chunks())]
    ending = pa.scalar("}" if table.num_columns else "{}")
    joined = pc.binary_join_element_wise(*parts, ending, "")
    return joined if isinstance(joined, pa.Array) else pa.array([joined.as_py()] * table.num_rows, pa.string())


def json_values(values: pa.Array) -> pa.Array:
    """Each value as JSON text: numbers and truth values as they are, all else as a string."""
    if pa.types.is_timestamp(values.type):
        text = _quoted(iso_times(values))
    elif pa.types.is_floating(values.type):
        plain = values.cast(pa.string())
        text = pc.if_else(pc.is_finite(values), plain, _quoted(plain))
    elif any(is_kind(values.type) for is_kind in _BARE):
        text = values.cast(pa.string())
    else:
        text = _quoted(values.cast(pa.string()))  # there are four kinds of text in Arrow, and dictionaries of each
    return text.fill_null("null")


def iso_times(values: pa.Array) -> pa.Array:
    """Times to the microsecond; what is finer is cut off.

    >>> iso_times(pa.array([0, 1_500_000], pa.timestamp("us", tz="UTC"))).to_pylist()
    ['1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:01.500000Z']
    """
    if values.type.unit == "ns":
        values = pc.floor_temporal(values, unit="microsecond")
    return pc.strftime(values.cast(pa.timestamp("us", tz="UTC")), format="%Y-%m-%dT%H:%M:%SZ")


def _quoted(values: pa.Array) -> pa.Array:
    text = pc.replace_substring(pc.replace_substring(values, "\\", "\\\\"), '"', '\\"')
    if pc.any(pc.match_substring_regex(text, r"[\x00-\x1f]")).as_py():
        for found, written in _CONTROL.items():
            text = pc.replace_substring(text, found, written)
    return pc.binary_join_element_wise(pa.scalar('"'), text, pa.scalar('"'), "")
