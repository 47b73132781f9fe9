"""M1: the smallest host, from the bytes of landing files to events."""

from __future__ import annotations

from typing import Any

from moirae.engine.placing import archive_schema
from moirae.engine.process import ProcessRun
from moirae.lang import bind
from moirae.plan import plan_program
from moirae.testing import landing_files, plain_rows, start_story

SECOND = 1_000_000
PACK = bind(
    """
    CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at LATENESS '5 seconds'
    FROM LANDING 'traffic';
    CREATE EVENT busy AS SELECT server, sum(bytes) AS total FROM traffic
    GROUP BY server, window(at, '10 seconds') HAVING sum(bytes) > 10;
    CREATE EVENT huge AS SELECT server, bytes FROM traffic WHERE bytes > 1000;
    """
)
[TRAFFIC] = PACK.streams

Rows = list[tuple[int, str, int]]


def files(*contents: Rows) -> list[tuple[str, int, bytes]]:
    rows = [[{"at": at * SECOND, "server": s, "bytes": b} for at, s, b in content] for content in contents]
    return landing_files(TRAFFIC, rows)


def found(run: ProcessRun, query: str) -> list[list[Any]]:
    """What was found until now, in the order it was found; times in seconds."""
    tables = run.events.get(query, [])
    return [[at // SECOND, *own] for table in tables for at, *own in plain_rows(table.drop_columns(["eid"]))]


def test_events_come_when_the_watermark_allows_it() -> None:
    """M1: a file moves the watermark to its newest time less the lateness."""
    run = start_story(PACK)
    first, second, third = files([(3, "a", 8), (4, "a", 4)], [(14, "a", 1)], [(15, "b", 1)])
    run.batch([first])
    run.batch([second])
    assert found(run, "busy") == []
    run.batch([third])
    assert found(run, "busy") == [[10, "a", 12]]


def test_finishing_closes_every_window() -> None:
    """M1: no more rows will come; every query has its table, also one that found nothing."""
    run = start_story(PACK)
    run.batch(files([(3, "a", 8), (4, "a", 4), (12, "b", 3)]))
    events = run.finish()
    assert plain_rows(events["busy"].drop_columns(["eid"])) == [[10 * SECOND, "a", 12]]
    assert events["huge"].num_rows == 0
    assert events["huge"].column_names == ["eid", "at", "server", "bytes"]


def test_a_run_without_files_has_empty_answers() -> None:
    """M1: of the right shape."""
    run = start_story(PACK)
    assert {name: table.num_rows for name, table in run.finish().items()} == {"busy": 0, "huge": 0}
    assert run.archived()["traffic"].schema == archive_schema(TRAFFIC)


def test_late_rows_are_kept_apart() -> None:
    """M1: they are in no event, not even in a filter's, and not in the archive."""
    run = start_story(PACK)
    run.batch(files([(20, "a", 2000), (14, "late", 3000)], [(15, "a", 4000), (14, "late", 5000)]))
    assert found(run, "huge") == [[20, "a", 2000], [15, "a", 4000]]
    assert [table["server"].to_pylist() for table in run.late["traffic"]] == [["late"], ["late"]]
    assert run.archived()["traffic"]["server"].to_pylist() == ["a", "a"]


def test_the_archive_has_every_row_with_its_position() -> None:
    """M7: in the order of arrival, which is not that of time."""
    run = start_story(PACK)
    run.batch(files([(9, "a", 1), (7, "b", 2)], [(8, "c", 3)]))
    archive = run.archived()["traffic"].select(["server", "_pos"])
    assert plain_rows(archive) == [["a", 1], ["b", 2], ["c", (1 << 32) + 1]]


def test_a_file_that_comes_twice_counts_once() -> None:
    """M1: in the same batch, in a later one, under another name or its own; if the run remembers contents."""
    [(path, time, content)] = files([(3, "a", 2000)])
    run = start_story(PACK)
    run.seen = {}
    run.batch([(path, time, content), ("/landing/traffic/copy.jsonl", time + 1, content)])
    run.batch([("/landing/traffic/again.jsonl", time + 2, content)])
    run.batch([(path, time + 3, content)])
    assert found(run, "huge") == [[3, "a", 2000]]
    assert run.standing.ordinals == {"traffic": 1}


def test_bad_lines_are_kept_and_do_not_count() -> None:
    """P4: with the file they came from; a duplicate file's are not kept twice."""
    [(path, time, content)] = files([(3, "a", 2000)])
    run = start_story(PACK)
    run.seen = {}
    run.batch([(path, time, b"oops\n" + content), ("/landing/traffic/copy.jsonl", 9, b"oops\n" + content)])
    [(where, bad)] = run.bad
    assert where == path
    assert plain_rows(bad.select(["line", "text"])) == [[1, "oops"]]
    assert run.archived()["traffic"]["_pos"].to_pylist() == [2]


def test_a_file_for_nobody_is_kept_as_a_bad_line() -> None:
    """P4: nothing that lands is lost without a word."""
    run = start_story(PACK)
    run.batch([("/landing/unknown/1.jsonl", 0, b"{}\n")])
    [(where, bad)] = run.bad
    assert where == "/landing/unknown/1.jsonl"
    assert bad["reason"][0].as_py().startswith("no stream reads from 'unknown'")


def test_a_query_deployed_in_mid_run_sees_what_comes_after_it() -> None:
    """M9: the others go on where they were."""
    run = start_story(bind(TRAFFIC.text + ";" + PACK.events[0].text + ";"))
    first, second = files([(3, "a", 2000)], [(4, "a", 3000)])
    run.batch([first])
    run.restart(plan_program(PACK))
    run.batch([second])
    events = run.finish()
    assert events["busy"]["total"].to_pylist() == [5000]
    assert events["huge"]["bytes"].to_pylist() == [3000]
