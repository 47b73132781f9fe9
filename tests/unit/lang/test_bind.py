"""The binder: names, types and defaults of what a pack says."""

from __future__ import annotations

import pytest

from moirae.errors import QueryError
from moirae.lang import bind
from moirae.model.expr import Col, Param
from moirae.model.query import Aggregate, Pack, Window
from moirae.model.schema import Type
from moirae.model.show import show

TRAFFIC = "CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at;"
BUSY = "CREATE EVENT busy AS SELECT server, avg(bytes) AS bw FROM traffic GROUP BY server, window(at, '5 minutes');"


def findings(text: str, known: Pack | None = None) -> list[str]:
    with pytest.raises(QueryError) as problem:
        bind(text, known=known)
    return [str(finding) for finding in problem.value.findings]


def test_all_errors_of_a_pack_are_reported_in_the_order_of_the_text() -> None:
    """L1: every mistake at once, each with its place."""
    text = "CREATE EVENT a AS SELECT x FROM nowhere;\nCREATE STREAM s (at TIME) ORDER BY of;\nSELECT"
    assert [finding.split(":")[0] for finding in findings(text)] == [
        "query 'a', line 1, column 33",
        "query 's', line 2, column 21",
        "query 's', line 2, column 36",
        "line 3, column 1",
    ]


def test_a_mistake_is_reported_once_and_not_again_by_its_readers() -> None:
    text = TRAFFIC + "CREATE EVENT a AS SELECT byts FROM traffic; CREATE EVENT b AS SELECT anything FROM a;"
    assert len(findings(text)) == 1


def test_definitions_keep_their_text_and_compare_without_it() -> None:
    first, second = bind(TRAFFIC).streams[0], bind(TRAFFIC.replace(" ORDER", "\n  ORDER")).streams[0]
    assert first == second
    assert first.text == TRAFFIC.removesuffix(";")


def test_stream_defaults_are_landing_folder_of_its_name_and_no_lateness() -> None:
    stream = bind(TRAFFIC).streams[0]
    assert (stream.source, stream.source_name, stream.lateness_us, stream.valid_us) == ("landing", "traffic", 0, None)


def test_names_are_case_insensitive_and_backquotes_quote() -> None:
    pack = bind(
        "CREATE STREAM T (At TIMESTAMP, `Order` INT) ORDER BY aT; CREATE EVENT E AS SELECT `ORDER` FROM t AS X;"
    )
    assert pack.streams[0].schema.names == ("at", "order")
    assert pack.events[0].select[0].expr == Col("order", Type.INT)


def test_the_same_aggregate_is_computed_once() -> None:
    event = bind(
        TRAFFIC
        + """CREATE EVENT e AS SELECT t.server, AVG(t.bytes), avg(bytes) * 8 AS bits, window.start, window.end AS done
             FROM traffic t GROUP BY server, window(at, '1 hour', INTERVAL 10 MINUTES)
             HAVING mean(bytes) > 1 AND bits < 9"""
    ).events[0]
    assert event.aggregates == (Aggregate("avg_bytes", "avg", Col("bytes", Type.BIGINT), Type.DOUBLE),)
    assert event.window == Window(3_600_000_000, 600_000_000)
    assert [output.name for output in event.select] == ["server", "avg_t_bytes", "bits", "start", "done"]
    assert event.select[3].expr == Col("window_start", Type.TIMESTAMP)
    assert event.having is not None
    assert show(event.having) == "avg_bytes > 1.0D AND avg_bytes * 8.0D < 9.0D"


def test_grouping_by_an_expression_makes_it_a_key() -> None:
    event = bind(
        TRAFFIC
        + "CREATE EVENT e AS SELECT upper(server) AS s, length(upper(server)), count(*) FROM traffic "
        + "GROUP BY upper(server), window(at, '1 hour')"
    ).events[0]
    assert [(key.name, show(key.expr)) for key in event.keys] == [("upper_server", "upper(server)")]
    assert [show(output.expr) for output in event.select] == ["upper_server", "length(upper_server)", "count"]


def test_grouping_may_name_an_output() -> None:
    text = "CREATE EVENT e AS SELECT bytes % 2 AS odd, count(*) FROM traffic GROUP BY odd, window(at, '1 hour')"
    assert show(bind(TRAFFIC + text).events[0].keys[0].expr) == "bytes % 2L"


def test_event_columns_in_a_recall_are_parameters() -> None:
    """M12: values of the event are bound, never pasted."""
    recall = bind(
        TRAFFIC
        + BUSY
        + """CREATE RECALL r FOR busy e OVER ALL PAUSE EVERY 20 CHUNKS PATIENCE '10 minutes'
             AS SELECT server, max(server), count(*) AS n FROM HISTORY(traffic) h
             WHERE h.server = e.server AND h.at >= e.at - INTERVAL 1 HOUR GROUP BY server HAVING count(*) > 2"""
    ).recalls[0]
    assert (recall.over_us, recall.report_every_us, recall.pause_every) == (None, 2_000_000, 20)
    assert recall.patience_us == 600_000_000
    assert recall.where is not None
    assert show(recall.where) == "server = :server AND at >= :at - INTERVAL '3600' SECOND"
    assert recall.schema.ddl == "server STRING, max_server STRING, n BIGINT"


def test_an_event_can_be_read_like_a_stream() -> None:
    text = TRAFFIC + BUSY + "CREATE EVENT often AS SELECT count(*) AS n FROM busy b GROUP BY window(b.at, '1 day');"
    event = bind(text).events[1]
    assert (event.stream, event.keys) == ("busy", ())


def test_what_is_deployed_can_be_read_and_replaced_by_its_kind() -> None:
    known = bind(TRAFFIC + BUSY)
    recall = "CREATE RECALL r FOR busy e OVER ALL AS SELECT count(*) FROM HISTORY(busy) h WHERE h.bw > e.bw"
    assert bind(recall, known=known).recalls[0].where is not None
    assert bind(BUSY, known=known).events == known.events
    assert "a deployed event" in findings("CREATE TABLE busy (a INT) FROM 'a.csv'", known)[0]


def test_bare_select_is_called_result_and_has_its_own_columns() -> None:
    result = bind(TRAFFIC + "SELECT *, bytes * 8, bytes * 9 FROM traffic WHERE bytes > 0").result
    assert result is not None
    assert [output.name for output in result.select] == ["at", "server", "bytes", "bytes_8", "bytes_9"]


def test_own_eid_and_at_replace_the_made_ones() -> None:
    event = bind(TRAFFIC + "CREATE EVENT e AS SELECT concat(server, bytes) AS eid, at, bytes FROM traffic").events[0]
    assert event.schema.ddl == "eid STRING, at TIMESTAMP, bytes BIGINT"
    wrong = findings(TRAFFIC + "CREATE EVENT e AS SELECT bytes AS at FROM traffic")
    assert "expected TIMESTAMP for the event's 'at', but found BIGINT" in wrong[0]


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("count(*)", Type.BIGINT),
        ("count(server)", Type.BIGINT),
        ("count(DISTINCT server)", Type.BIGINT),
        ("sum(bytes)", Type.BIGINT),
        ("sum(bytes / 2)", Type.DOUBLE),
        ("mean(bytes)", Type.DOUBLE),
        ("min(bytes)", Type.BIGINT),
        ("max(at)", Type.TIMESTAMP),
        ("stddev_samp(bytes)", Type.DOUBLE),
        ("stddev_pop(bytes)", Type.DOUBLE),
        ("variance(bytes)", Type.DOUBLE),
        ("var_pop(bytes)", Type.DOUBLE),
    ],
)
def test_aggregates_have_the_types_of_spark(call: str, type_: Type) -> None:
    event = bind(TRAFFIC + f"CREATE EVENT e AS SELECT {call} AS x FROM traffic GROUP BY window(at, '1 hour')").events[0]
    assert event.schema["x"] is type_


def test_a_parameter_keeps_the_type_of_the_event() -> None:
    text = (
        TRAFFIC
        + BUSY
        + "CREATE RECALL r FOR busy OVER LAST '1 day' AS SELECT sum(bytes - busy.bw) FROM HISTORY(traffic)"
    )
    argument = bind(text).recalls[0].aggregates[0].argument
    assert argument is not None
    assert Param("bw", Type.DOUBLE) in getattr(argument, "args", ())


@pytest.mark.parametrize(
    "condition", ["(" * 3000 + "1" + ")" * 3000, "NOT " * 3000 + "TRUE", " AND ".join(["TRUE"] * 3000)]
)
def test_a_query_nested_too_deeply_is_refused_and_never_a_crash(condition: str) -> None:
    assert "nested less deeply" in findings(TRAFFIC + f"SELECT at FROM traffic WHERE {condition}")[0]


def test_an_empty_text_is_an_empty_pack() -> None:
    assert bind(" -- nothing\n;;") == Pack()
