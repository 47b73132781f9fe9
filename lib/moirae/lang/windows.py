"""`window(at, size[, hop])` in a GROUP BY, and the windows that are refused by name."""

from __future__ import annotations

from sqlglot import exp

from moirae.lang.source import Report, offset_of
from moirae.lang.statements import Quantity
from moirae.lang.types import duration
from moirae.model.query import Window

LATER = ("session_window", "snapshot_window", "count_window", "small_window")
_SHAPE = "write window(at, '5 minutes') or window(at, '5 minutes', '1 minute')"


def is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.name).lower() in ("window", *LATER)


def bind_window(node: exp.Anonymous, time: str, names: tuple[str, ...], at: int, report: Report) -> Window | None:
    """The window, or None with a report."""
    place, name = offset_of(node, at), str(node.name).lower()
    if name in LATER:
        report.add(place, "window(…)", f"{name}(…)", f"{name} is not supported yet; {_SHAPE}")
        return None
    if not 2 <= len(node.expressions) <= 3:
        report.add(place, "2 or 3 arguments of window", str(len(node.expressions)), _SHAPE)
        return None
    _check_time(node.expressions[0], time, names, place, report)
    lengths = [_length(argument, place, report) for argument in node.expressions[1:]]
    size, hop = lengths[0], lengths[-1]
    if size is None or hop is None:
        return None
    if hop > size:
        report.add(offset_of(node.expressions[2], place), "a hop no longer than the window", "a longer one", _SHAPE)
        return None
    return Window(size, hop)


def _check_time(node: exp.Expr, time: str, names: tuple[str, ...], at: int, report: Report) -> None:
    plain = isinstance(node, exp.Column) and node.name.lower() == time and node.table.lower() in ("", *names)
    if not plain:
        found = f"'{node.name.lower()}'" if isinstance(node, exp.Column) else "something else"
        report.add(offset_of(node, at), f"the stream's time column '{time}' in window", found, f"write '{time}'")


def _length(node: exp.Expr, at: int, report: Report) -> int | None:
    place = offset_of(node, at)
    if isinstance(node, exp.Literal) and node.is_string:
        return duration(Quantity(str(node.this), place), report)
    if isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal):
        unit = node.args.get("unit")
        return duration(Quantity(f"{node.this.this} {unit.name if unit else ''}".strip(), place), report)
    report.add(place, "a duration in quotes", "something else", _SHAPE)
    return None
