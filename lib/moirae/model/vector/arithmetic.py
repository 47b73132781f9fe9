"""Numbers: integers wrap as in the JVM, nothing raises, a zero divisor gives NULL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.vector.convert import Numbers, Value, array, length, numbers

_EXACT = float(1 << 52)  # from here on a DOUBLE has no fraction


def divide(left: Value, right: Value) -> Value:
    return pc.if_else(pc.equal(right, 0.0), pa.scalar(None, pa.float64()), pc.divide(left, right))


def divide_whole(left: Value, right: Value) -> Value:
    """Quotient towards zero. The one overflow, least BIGINT by -1, wraps to itself."""
    rows = length(left, right)
    (a, a_valid), (b, b_valid) = numbers(left, rows), numbers(right, rows)
    safe = np.where((b == 0) | (b == -1), 1, b)
    quotient = (a - np.fmod(a, safe)) // safe
    with np.errstate(over="ignore"):
        result = np.where(b == -1, -a, quotient)
    return array(result, a_valid & b_valid & (b != 0), pa.int64())


def modulo(left: Value, right: Value) -> Value:
    """The remainder with the sign of the dividend; NULL for a zero divisor."""
    rows = length(left, right)
    (a, a_valid), (b, b_valid) = numbers(left, rows), numbers(right, rows)
    safe = np.where(b == 0, np.ones_like(b), b)
    if a.dtype.kind == "i":
        safe = np.where(safe == -1, np.ones_like(b), safe)  # the remainder by -1 is 0, and cannot overflow
    with np.errstate(invalid="ignore"):
        result = np.fmod(a, safe)
    return array(result, a_valid & b_valid & (b != 0), left.type)


def whole(function: Callable[[Numbers], Numbers]) -> Callable[[Value], Value]:
    """floor or ceil as BIGINT: NaN becomes 0, what does not fit becomes the nearest end, as in the JVM."""

    def apply(value: Value) -> Value:
        if pa.types.is_integer(value.type):
            return value
        found, valid = numbers(value, len(value))
        return array(to_int64(function(found)), valid, pa.int64())

    return apply


def to_int64(values: Numbers) -> Numbers:
    """DOUBLE to BIGINT as the JVM does it: towards zero, saturating, NaN to 0."""
    limit = float(1 << 63)
    with np.errstate(invalid="ignore"):
        inside = np.where(np.abs(values) < limit, values, 0.0).astype(np.int64)
    result: Numbers = np.where(values >= limit, np.iinfo(np.int64).max, inside)
    return np.where(values <= -limit, np.iinfo(np.int64).min, result)


def round_half_up(value: Value, digits: Value | None = None) -> Value:
    """round(x, n): halves of the *decimal* spelling go away from zero, so round(2.675, 2) is 2.68 as in Spark."""
    places = 0 if digits is None else digits.as_py()
    if places is None:
        return pa.nulls(len(value), value.type)
    found, valid = numbers(value, len(value))
    rounded = _round_integers(found, places) if found.dtype.kind == "i" else _round_doubles(found, places)
    return array(rounded, valid, value.type)


def _round_integers(values: Numbers, places: int) -> Numbers:
    if places >= 0:
        return values
    if places < -18:
        return np.zeros_like(values)
    unit = 10**-places
    wide = values.astype(np.int64)
    rest = np.fmod(wide, unit)
    with np.errstate(over="ignore"):
        down = wide - rest
        result: Numbers = np.where(np.abs(rest) * 2 >= unit, down + np.sign(rest) * unit, down)
    return result.astype(values.dtype)


def _round_doubles(values: Numbers, places: int) -> Numbers:
    """A tie is a double whose shortest spelling ends in 5 at the next place: the nearest double to (k + 1/2)·10^-n.

    Comparing with that double, and not with x·10^n, is what makes the decision a decimal one.
    """
    if abs(places) > 22:
        return values if places > 0 else np.zeros_like(values)
    unit = 10.0 ** abs(places)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(values)
        scaled = size * unit if places >= 0 else size / unit
        steps = np.floor(scaled)
        steps = np.where(_at(steps, unit, places) > size, steps - 1, steps)
        steps = np.where(_at(steps + 1, unit, places) <= size, steps + 1, steps)
        up = size >= _at(2 * steps + 1, 2 * unit if places >= 0 else unit / 2, places)
        result = np.copysign(_at(steps + up, unit, places), values) + 0.0  # no minus zero
    untouched = ~np.isfinite(values) | (scaled >= _EXACT)
    return np.where(untouched, values, result)


def _at(steps: Numbers, unit: float, places: int) -> Numbers:
    result: Numbers = steps / unit if places >= 0 else steps * unit
    return result


def positive_log(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """ln or log10: NULL for zero and negative numbers."""

    def apply(value: Value) -> Value:
        none = pa.scalar(None, pa.float64())
        return pc.if_else(pc.less_equal(value, 0.0), none, function(value))

    return apply


def exponential(value: Value) -> Value:
    found, valid = numbers(value, len(value))
    with np.errstate(over="ignore", under="ignore"):
        return array(np.exp(found), valid, pa.float64())
