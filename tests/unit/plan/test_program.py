"""M1, P8: which queries run together, and what a program says of itself."""

from __future__ import annotations

import pytest

from moirae.lang import bind
from moirae.plan import Program, plan_program

STREAMS = """
CREATE STREAM traffic (at TIMESTAMP, server STRING, rack STRING, bytes BIGINT, note STRING) ORDER BY at
FROM LANDING 'traffic';
CREATE STREAM logins (moment TIMESTAMP, server STRING, user STRING) ORDER BY moment FROM LANDING 'logins';
"""


def plan(*queries: str, versions: dict[str, int] | None = None) -> Program:
    return plan_program(bind(STREAMS + "".join(f"{query};" for query in queries)), versions)


def windowed(name: str, by: str, stream: str = "traffic", time: str = "at", call: str = "count(*)") -> str:
    keys = f"{by}, " if by else ""
    return f"CREATE EVENT {name} AS SELECT {call} AS x FROM {stream} GROUP BY {keys}window({time}, '1 minute')"


def grouped(program: Program) -> dict[str, list[str]]:
    return {operator.name: [query.name for query in operator.queries] for operator in program.operators}


def test_queries_of_one_stream_and_key_share_an_operator() -> None:
    """M1: whatever they compute and however long their windows are; rows are moved and keyed once."""
    other = "CREATE EVENT b AS SELECT max(bytes) AS m FROM traffic GROUP BY server, window(at, '5 minutes', '1 minute')"
    assert grouped(plan(windowed("a", "server"), other)) == {"traffic(server)": ["a", "b"]}


@pytest.mark.parametrize(
    ("by", "operator"),
    [
        ("rack", "traffic(rack)"),
        ("server, rack", "traffic(server, rack)"),
        ("rack, server", "traffic(rack, server)"),
        ("upper(server)", "traffic(upper(server))"),
        ("", "traffic()"),
    ],
)
def test_another_key_is_another_operator(by: str, operator: str) -> None:
    """M1: rows of one key must be in one place, and another key puts them elsewhere."""
    assert grouped(plan(windowed("a", "server"), windowed("b", by))) == {"traffic(server)": ["a"], operator: ["b"]}


def test_another_stream_is_another_operator() -> None:
    """M1: also where the key has the same name."""
    program = plan(windowed("a", "server"), windowed("b", "server", "logins", "moment"))
    assert grouped(program) == {"traffic(server)": ["a"], "logins(server)": ["b"]}


def test_spelling_does_not_part_queries() -> None:
    """M1: names are case-insensitive, and a table's name before a column says nothing new."""
    program = plan(windowed("a", "server"), windowed("b", "SERVER"), windowed("c", "traffic.Server"))
    assert grouped(program) == {"traffic(server)": ["a", "b", "c"]}


LOUD = "CREATE EVENT loud AS SELECT note FROM traffic WHERE bytes > 1000"


def test_a_filter_rides_along_with_a_keyed_query_of_its_stream() -> None:
    """M1: it needs no key, so it costs no second copy of the rows; it need not be declared later."""
    assert grouped(plan(LOUD, windowed("a", "server"))) == {"traffic(server)": ["a", "loud"]}
    assert grouped(plan(LOUD, windowed("a", "server", "logins", "moment"))) == {
        "logins(server)": ["a"],
        "traffic()": ["loud"],
    }


def test_an_operator_reads_the_columns_its_queries_read() -> None:
    """M1: the time first, then in the order of the stream; WHERE, keys and arguments count."""
    query = windowed("a", "server", call="sum(bytes)").replace(" GROUP", " WHERE rack = 'r1' GROUP")
    assert plan(query).operators[0].columns == ("at", "server", "rack", "bytes")
    assert plan(windowed("a", "server")).operators[0].columns == ("at", "server")
    assert plan(windowed("a", "", "logins", "moment")).operators[0].columns == ("moment",)
    assert plan(LOUD, windowed("a", "server")).operators[0].columns == ("at", "server", "bytes", "note")


def test_a_query_has_the_version_it_was_deployed_with() -> None:
    """M9: 1 where none is given; the version and the meaning both name its state."""
    [operator] = plan(windowed("a", "server"), windowed("b", "server"), versions={"b": 3}).operators
    assert [query.version for query in operator.queries] == [1, 3]
    keys = {
        plan(windowed("a", "server"), versions={"a": version}).operators[0].queries[0].state_key for version in (1, 2)
    }
    keys |= {plan(windowed("a", "server", call="sum(bytes)")).operators[0].queries[0].state_key}
    assert len(keys) == 3


def test_layout_and_comments_do_not_rename_a_state() -> None:
    """M9: deploying the same query again keeps its windows."""
    [one], [two] = (
        plan(text).operators[0].queries
        for text in (windowed("a", "server"), windowed("a", "server").replace(" FROM", " -- all of it\n   from"))
    )
    assert one.state_key == two.state_key


def test_a_bare_select_runs_like_an_event() -> None:
    """P8: what `moirae run` shows as `result`."""
    assert grouped(plan("SELECT server FROM traffic WHERE bytes > 10")) == {"traffic()": ["result"]}


def test_explain_shows_operators_columns_and_versions() -> None:
    """P8: everything compiled can be printed."""
    program = plan(
        LOUD, windowed("a", "server"), windowed("b", "upper(user)", "logins", "moment"), versions={"loud": 4}
    )
    assert program.explain().splitlines() == [
        "operator traffic(server) reads at, server, bytes, note",
        "  a v1",
        "  loud v4",
        "operator logins(upper(user)) reads moment, user",
        "  b v1",
    ]


def test_without_queries_there_is_nothing_to_run() -> None:
    """P8: streams alone are archived and nothing else."""
    assert plan() == Program(())
    assert plan().explain() == "nothing to run"
