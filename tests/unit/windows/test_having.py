"""M1: HAVING keeps windows as WHERE keeps rows: where the condition is true."""

from __future__ import annotations

from typing import Any

import pytest

from moirae.lang import bind
from moirae.testing import landing_files, plain_rows, start_story

STREAM = "CREATE STREAM s (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at FROM LANDING 's';"
ROWS: list[dict[str, Any]] = [
    {"at": 1, "server": "a", "bytes": 10},
    {"at": 2, "server": "a", "bytes": 30},
    {"at": 3, "server": "b", "bytes": 5},
    {"at": 4, "server": "nulls", "bytes": None},
    {"at": 5, "server": None, "bytes": 100},
    {"at": 1_000_000, "server": "a", "bytes": 1},
]


def servers(having: str, where: str = "true") -> list[Any]:
    """The servers of the windows kept, by (time, id), of windows of a second."""
    query = f"""CREATE EVENT e AS SELECT server FROM s WHERE {where}
                GROUP BY server, window(at, '1 second') HAVING {having};"""
    pack = bind(STREAM + query)
    run = start_story(pack)
    run.batch(landing_files(pack.streams[0], [ROWS]))
    return sorted((row[-1] for row in plain_rows(run.finish()["e"])), key=str)


@pytest.mark.parametrize(
    ("having", "expected"),
    [
        ("avg(bytes) > 15", [None, "a"]),
        ("avg(bytes) >= 20", [None, "a"]),
        ("avg(bytes) > 20", [None]),
        ("count(*) = 1", [None, "a", "b", "nulls"]),
        ("count(bytes) = 0", ["nulls"]),
        ("sum(bytes) IS NULL", ["nulls"]),
        ("NOT sum(bytes) > 20", ["a", "b"]),
        ("stddev(bytes) > 0", ["a"]),
        ("server = 'a'", ["a", "a"]),
        ("server IS NULL", [None]),
        ("max(bytes) - min(bytes) = 20 AND count(DISTINCT bytes) = 2", ["a"]),
        ("window.start >= CAST('1970-01-01T00:00:01Z' AS TIMESTAMP)", ["a"]),
        ("CAST(NULL AS BOOLEAN)", []),
        ("false", []),
    ],
)
def test_having_keeps_the_windows_where_it_is_true(having: str, expected: list[Any]) -> None:
    """M1: NULL is not true, nor is its opposite; aggregates need not be selected."""
    assert servers(having) == expected


def test_where_is_asked_before_and_having_after_the_aggregate() -> None:
    """M1: a row left out by WHERE is in no count."""
    assert servers("count(*) >= 2") == ["a"]
    assert servers("count(*) >= 2", where="bytes > 10") == []
    assert servers("count(*) >= 1", where="bytes > 10") == [None, "a"]
