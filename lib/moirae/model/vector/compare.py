"""Comparisons and logic: three-valued, and NaN equals itself and is greater than every other number."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.vector.convert import Value, column, length


def equal(left: Value, right: Value) -> Value:
    same = pc.equal(left, right)
    if not pa.types.is_floating(left.type):
        return same
    return pc.or_(same, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def less(left: Value, right: Value) -> Value:
    if pa.types.is_boolean(left.type):
        return pc.and_(pc.invert(left), right)
    below = pc.less(left, right)
    if not pa.types.is_floating(left.type):
        return below
    return pc.or_(below, pc.and_(pc.is_nan(right), pc.invert(pc.is_nan(left))))


def not_equal(left: Value, right: Value) -> Value:
    return pc.invert(equal(left, right))


def greater(left: Value, right: Value) -> Value:
    return less(right, left)


def less_equal(left: Value, right: Value) -> Value:
    return pc.invert(less(right, left))


def greater_equal(left: Value, right: Value) -> Value:
    return pc.invert(less(left, right))


def same(left: Value, right: Value) -> Value:
    """`<=>`: NULL equals NULL, and the answer is never NULL."""
    both = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(both, pc.fill_null(equal(left, right), False))


def one_of(value: Value, *choices: Value) -> Value:
    """IN: NULL for a NULL, and NULL instead of false if one of the choices is NULL."""
    if pa.types.is_floating(value.type) or any(isinstance(choice, pa.Array) for choice in choices):
        return reduce(pc.or_kleene, (equal(value, choice) for choice in choices))
    known = [choice for choice in choices if choice.is_valid]
    within = pc.is_in(value, value_set=pa.array([c.as_py() for c in known], type=value.type))
    unsure = pc.is_null(value) if len(known) == len(choices) else pc.invert(within)
    unsure = pc.or_(unsure, pc.is_null(value))
    return pc.if_else(unsure, pa.scalar(None, pa.bool_()), within)


def greatest(*values: Value) -> Value:
    """The greatest of the values that are not NULL."""
    return reduce(lambda left, right: _pick(left, right, less(left, right)), values)


def least(*values: Value) -> Value:
    return reduce(lambda left, right: _pick(left, right, less(right, left)), values)


def _pick(left: Value, right: Value, take_right: Value) -> Value:
    chosen = pc.if_else(pc.fill_null(take_right, False), right, left)
    return pc.coalesce(chosen, right)  # a NULL on the left leaves the right one


def case(*parts: Value) -> Value:
    """condition, value, …, else; an unknown condition counts as false."""
    rows = length(*parts)
    conditions = [pc.fill_null(column(part, rows), False) for part in parts[0:-1:2]]
    labels = [str(position) for position in range(len(conditions))]
    return pc.case_when(pc.make_struct(*conditions, field_names=labels), *parts[1:-1:2], parts[-1])
