"""Names for output columns that were given none: made from the expression, distinct within the query."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlglot import exp

from moirae.lang.dialect import Moirae

_LONGEST = 60


def made_name(node: exp.Expr) -> str:
    """A name made from the words of the expression.

    >>> from sqlglot import parse_one
    >>> made_name(parse_one("avg(bytes) * 8", dialect=Moirae)), made_name(parse_one("t.at", dialect=Moirae))
    ('avg_bytes_8', 'at')
    """
    if isinstance(node, exp.Column):
        return str(node.name).lower()
    return words(str(node.sql(dialect=Moirae)))


def words(text: str) -> str:
    """
    >>> words("count(DISTINCT x)"), words("1 + 1"), words("'é'")
    ('count_distinct_x', 'c_1_1', 'c')
    """
    plain = re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")[:_LONGEST].strip("_")
    return f"c_{plain}".rstrip("_") if not plain or plain[0].isdigit() else plain


def distinct(name: str, taken: Collection[str]) -> str:
    """
    >>> distinct("a", ["a", "a_2"]), distinct("b", ["a"])
    ('a_3', 'b')
    """
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
