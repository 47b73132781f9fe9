"""One SELECT over one relation: WHERE, GROUP BY, HAVING and outputs bound and typed.

The same binding serves events, bare SELECTs and recalls; what differs is said by a `Purpose`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from moirae.lang.aggregates import has_aggregate
from moirae.lang.body import SEQUENCES
from moirae.lang.expressions import Expressions
from moirae.lang.grouping import BOUNDS, Group, Grouped
from moirae.lang.naming import distinct, made_name
from moirae.lang.scope import Scope
from moirae.lang.source import Report, offset_of
from moirae.lang.windows import bind_window, is_window
from moirae.model.expr import Col, Expr, Lit
from moirae.model.query import Aggregate, Output, Window
from moirae.model.schema import Type

_CLAUSES = {
    "joins": ("JOIN", "joins are not supported yet; read one stream"),
    "laterals": ("LATERAL VIEW", "generators are not supported yet"),
    "distinct": ("DISTINCT", "use GROUP BY, or count(DISTINCT column)"),
    "order": ("ORDER BY", "leave it out: rows come in the order of the stream"),
    "sort": ("SORT BY", "leave it out: rows come in the order of the stream"),
    "cluster": ("CLUSTER BY", "leave it out"),
    "distribute": ("DISTRIBUTE BY", "leave it out"),
    "limit": ("LIMIT", "leave it out: a stream has no end"),
    "offset": ("OFFSET", "leave it out: a stream has no end"),
    "with_": ("WITH", "write a CREATE EVENT for the inner query and read from it"),
    "windows": ("WINDOW", "use GROUP BY window(…)"),
    "qualify": ("QUALIFY", "use HAVING"),
    "match": ("MATCH_RECOGNIZE", SEQUENCES),
    "pivots": ("PIVOT", "write one aggregate for each column"),
    "into": ("INTO", "leave it out"),
    "sample": ("TABLESAMPLE", "leave it out"),
}
_READ = {"expressions", "from_", "where", "group", "having"}


@dataclass(frozen=True, slots=True)
class Purpose:
    """`time` is the column a window counts on; "" where windows make no sense (a recall)."""

    time: str
    place: str  # what the query is, for messages


@dataclass(frozen=True, slots=True)
class Bound:
    where: Expr | None
    window: Window | None
    keys: tuple[Output, ...]
    aggregates: tuple[Aggregate, ...]
    having: Expr | None
    select: tuple[Output, ...]


def refuse_clauses(select: exp.Select, at: int, report: Report) -> None:
    """Name every clause this version does not read; none is ever skipped in silence."""
    for key, value in select.args.items():
        if not value or key in _READ:
            continue
        found, remedy = _CLAUSES.get(key, (key.rstrip("_").upper(), "leave it out"))
        report.add(_place(value, at), "SELECT … FROM … WHERE … GROUP BY … HAVING", found, remedy)


def _place(value: object, at: int) -> int:
    first = value[0] if isinstance(value, list) and value else value
    return offset_of(first, at) if isinstance(first, exp.Expr) else at


def bind_select(select: exp.Select, scope: Scope, purpose: Purpose, at: int, report: Report) -> Bound:
    """The bound query; parts that could not be bound are missing, and reported."""
    where = select.args.get("where")
    condition = Expressions(scope, report, at, "WHERE").condition(where.this) if where else None
    having, group_by = select.args.get("having"), select.args.get("group")
    parts = [*select.expressions, *([having] if having else [])]
    if group_by is None and not any(map(has_aggregate, parts)):
        if having:
            remedy = "use WHERE for conditions on single rows, or add GROUP BY"
            report.add(offset_of(having, at), "GROUP BY before HAVING", "HAVING alone", remedy)
        outputs = _outputs(select, Expressions(scope, report, at, "SELECT"))
        return Bound(condition, None, (), (), None, outputs)
    group = _group(select, scope, purpose, at, report)
    outputs = _outputs(select, Grouped(scope, report, at, "SELECT", group))
    above = Grouped(scope, report, at, "HAVING", group)
    above.aliases = {output.name: output.expr for output in outputs}
    kept = above.condition(having.this) if having else None
    return Bound(condition, group.window, group.keys, tuple(group.aggregates), kept, outputs)


def _group(select: exp.Select, scope: Scope, purpose: Purpose, at: int, report: Report) -> Group:
    clause = select.args.get("group")
    items = list(clause.expressions) if clause else []
    if clause and any(value for key, value in clause.args.items() if key != "expressions"):
        report.add(offset_of(clause, at), "columns in GROUP BY", "ALL, CUBE, ROLLUP or sets", "list the columns")
    windows = [item for item in items if is_window(item)]
    _check_windows(select, windows, purpose, at, report)
    window = None
    if windows and purpose.time and isinstance(windows[0], exp.Anonymous):
        window = bind_window(windows[0], purpose.time, scope.names, at, report)
        window = window or Window(1, 1)  # already reported; keeps window.start known
    keys = _keys([item for item in items if not is_window(item)], select, scope, at, report)
    return Group(window, keys)


def _check_windows(select: exp.Select, windows: list[exp.Expr], purpose: Purpose, at: int, report: Report) -> None:
    if windows and not purpose.time:
        report.add(
            offset_of(windows[0], at), "no window in a recall", "window(…)", "use date_trunc('hour', …) as a key"
        )
    if len(windows) > 1:
        report.add(offset_of(windows[1], at), "one window", "a second one", "write one event query for each window")
    if windows or not purpose.time:
        return
    clause, having = select.args.get("group"), select.args.get("having")
    node = clause or next(item for item in [*select.expressions, having] if item is not None and has_aggregate(item))
    remedy = f"add window({purpose.time}, '5 minutes') to GROUP BY"
    report.add(
        offset_of(node, at), f"a window around the aggregates of {purpose.place}", "a stream without end", remedy
    )


def _keys(items: list[exp.Expr], select: exp.Select, scope: Scope, at: int, report: Report) -> tuple[Output, ...]:
    rows = Expressions(scope, report, at, "GROUP BY")
    keys: list[Output] = []
    for item in items:
        node = _aliased(item, select, scope)
        bound = rows.bind(node)
        if bound is None or bound in [key.expr for key in keys]:
            continue
        if isinstance(bound, Lit) or bound.type in (Type.INTERVAL, Type.NULL):
            report.add(
                offset_of(item, at), "a column or expression in GROUP BY", "a constant or interval", "name a column"
            )
            continue
        name = bound.name if isinstance(bound, Col) else made_name(item)
        keys.append(Output(distinct(name, {*BOUNDS.values(), *(key.name for key in keys)}), bound))
    return tuple(keys)


def _aliased(item: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """GROUP BY may name an output, as in Spark, if the relation has no such column."""
    if isinstance(item, exp.Column) and not item.table and item.name.lower() not in scope.schema:
        for output in select.expressions:
            if isinstance(output, exp.Alias) and output.alias.lower() == item.name.lower():
                named: exp.Expr = output.this
                return named
    return item


def _outputs(select: exp.Select, binder: Expressions) -> tuple[Output, ...]:
    outputs: list[Output] = []
    named = [item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)]
    for item in _items(select, binder):
        bound = binder.bind(item.unalias())
        name = _name(item, named, outputs, binder)
        if bound is not None and name and _storable(item, name, bound, binder):
            outputs.append(Output(name, bound))
    return tuple(outputs)


def _items(select: exp.Select, binder: Expressions) -> list[exp.Expr]:
    """`SELECT *` is every column of the relation, by name."""
    items: list[exp.Expr] = []
    for item in select.expressions:
        starred = item.this if isinstance(item, exp.Column) else item
        if not isinstance(starred, exp.Star):
            items.append(item)
        elif any(starred.args.values()):
            binder.refuse(item, "a plain *", "* with exceptions", "name the columns")
        elif isinstance(item, exp.Column) and item.table.lower() not in binder.scope.names:
            binder.refuse(item, f"'{binder.scope.names[-1]}.*'", f"'{item.table}.*'", "name the columns")
        else:
            items.extend(_column(name, offset_of(item, binder.at)) for name in binder.scope.schema.names)
    return items


def _column(name: str, at: int) -> exp.Column:
    identifier = exp.Identifier(this=name, quoted=True)
    identifier.meta["start"] = at
    return exp.Column(this=identifier)


def _name(item: exp.Expr, named: list[str], outputs: list[Output], binder: Expressions) -> str | None:
    taken = {output.name for output in outputs}
    if not isinstance(item, exp.Alias):
        name = made_name(item)
        plain = isinstance(item, exp.Column) and name not in taken and name not in named
        return name if plain else distinct(name, {*taken, *named})
    name = item.alias.lower()
    if name in taken:
        binder.refuse(item.args["alias"], "output columns with distinct names", f"'{name}' twice", "rename one with AS")
        return None
    if not name.isidentifier():
        binder.refuse(item, "a name of letters, digits and _", f"'{name}'", "choose a simpler name after AS")
        return None
    return name


def _storable(item: exp.Expr, name: str, bound: Expr, binder: Expressions) -> bool:
    if bound.type is Type.INTERVAL:
        binder.refuse(
            item, "a value that can be kept", "an INTERVAL", "select unix_timestamp(…) differences in seconds"
        )
    elif bound.type is Type.NULL:
        binder.refuse(item, "a typed value", "NULL", "write CAST(NULL AS STRING) or another type")
    else:
        return True
    return False
