"""CAST between our types: what cannot be said in the wanted type is NULL, numbers wrap or saturate as in the JVM."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.schema import Type
from moirae.model.vector import times
from moirae.model.vector.arithmetic import to_int64
from moirae.model.vector.compare import not_equal
from moirae.model.vector.convert import Mask, Numbers, Value, array, numbers

_BLANKS = r"^[\x00-\x20]+|[\x00-\x20]+$"
_INTEGER = r"^(?P<sign>[+-]?)0*(?P<digits>\d*)(?:\.\d*)?$"
_DOUBLE = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$"
_SPECIAL = r"^(?i:[+-]?inf(inity)?|nan)$"
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


def cast(value: pa.Array, have: Type, want: Type) -> Value:
    """The column in the wanted type."""
    if have is want:
        return value
    if have is Type.NULL:
        return pa.nulls(len(value), want.arrow)
    if have is Type.STRING:
        return _from_text(value, want)
    if want is Type.STRING:
        return _to_text(value, have)
    if want is Type.BOOLEAN:
        return not_equal(value, pa.scalar(0, value.type))
    if have is Type.BOOLEAN:
        return pc.cast(value, want.arrow)
    return _between_numbers(value, have, want)


def _between_numbers(value: pa.Array, have: Type, want: Type) -> Value:
    found, valid = numbers(value, len(value))
    if have is Type.TIMESTAMP:
        found = found / 1e6 if want is Type.DOUBLE else found // 1_000_000
    if want is Type.TIMESTAMP:
        return _from_seconds(found, valid)
    if want is Type.DOUBLE:
        return array(found.astype(np.float64), valid, want.arrow)
    if have is Type.DOUBLE and want is Type.INT:
        return array(np.clip(to_int64(found), -(1 << 31), (1 << 31) - 1).astype(np.int32), valid, want.arrow)
    whole = to_int64(found) if have is Type.DOUBLE else found
    return array(whole.astype(np.int32 if want is Type.INT else np.int64), valid, want.arrow)


def _from_seconds(seconds: Numbers, valid: Mask) -> Value:
    if seconds.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return array(to_int64(seconds * 1e6), valid & np.isfinite(seconds), Type.TIMESTAMP.arrow)
    limit = (1 << 63) // 1_000_000
    wide = np.clip(seconds.astype(np.int64), -limit, limit)
    return array(wide * 1_000_000, valid, Type.TIMESTAMP.arrow)


def _from_text(value: pa.Array, want: Type) -> Value:
    if want is Type.TIMESTAMP:
        return times.parse(value)
    text = pc.replace_substring_regex(value, pattern=_BLANKS, replacement="")
    if want is Type.BOOLEAN:
        return _truth(text)
    return _parse_double(text) if want is Type.DOUBLE else _parse_integer(text, want)


def _truth(text: pa.Array) -> Value:
    lower = pc.utf8_lower(text)
    yes = pc.is_in(lower, value_set=pa.array(_TRUE))
    known = pc.or_(yes, pc.is_in(lower, value_set=pa.array(_FALSE)))
    return pc.if_else(known, yes, pa.scalar(None, pa.bool_()))


def _parse_integer(text: pa.Array, want: Type) -> Value:
    """Digits with a sign; decimals are cut off. Nothing but a sign, or too many digits, is NULL."""
    fields = pc.extract_regex(text, _INTEGER)
    digits = pc.fill_null(pc.struct_field(fields, "digits"), "")
    fits = pc.less_equal(pc.utf8_length(digits), 19)
    plain = pc.if_else(pc.and_(fits, pc.not_equal(digits, "")), digits, "0")
    size = pc.cast(plain, pa.uint64()).to_numpy(zero_copy_only=False)
    negative = pc.equal(pc.fill_null(pc.struct_field(fields, "sign"), ""), "-").to_numpy(zero_copy_only=False)
    bits = 31 if want is Type.INT else 63
    limit = np.where(negative, np.uint64(1 << bits), np.uint64((1 << bits) - 1))
    valid = pc.and_(fields.is_valid(), fits).to_numpy(zero_copy_only=False) & (size <= limit)
    valid &= pc.fill_null(pc.match_substring_regex(text, r"[\d.]"), False).to_numpy(zero_copy_only=False)
    signed = size.astype(np.int64)
    return array(np.where(negative, -signed, signed).astype(f"int{bits + 1}"), valid, want.arrow)


def _parse_double(text: pa.Array) -> Value:
    special = pc.match_substring_regex(text, _SPECIAL)
    known = pc.fill_null(pc.or_(special, pc.match_substring_regex(text, _DOUBLE)), False)
    bare = pc.if_else(special, text, pc.replace_substring_regex(text, pattern="[dDfF]$", replacement=""))
    plain = pc.if_else(known, bare, "0")
    values = plain.to_numpy(zero_copy_only=False).astype(np.float64)
    return array(values, known.to_numpy(zero_copy_only=False), pa.float64())


def _to_text(value: pa.Array, have: Type) -> Value:
    if have is Type.TIMESTAMP:
        return times.spell(value)
    if have is Type.DOUBLE:
        return _spell_doubles(value)
    return pc.cast(value, pa.string())


def _spell_doubles(value: pa.Array) -> Value:
    """Each distinct number is spelled once, since Arrow's spelling of a DOUBLE is not the JVM's."""
    coded = pc.dictionary_encode(value)
    words = pa.array([spell_double(number) for number in coded.dictionary.to_pylist()], type=pa.string())
    return words.take(coded.indices)


def spell_double(number: float) -> str:
    """
    >>> spell_double(1.0), spell_double(0.0001), spell_double(12345678.5), spell_double(float("inf"))
    ('1.0', '1.0E-4', '1.23456785E7', 'Infinity')
    """
    if np.isnan(number):
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return np.format_float_positional(number, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(number, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"
