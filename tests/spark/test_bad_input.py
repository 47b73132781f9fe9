"""What may land besides good rows: each is refused with its reason and place, or waited for; nothing is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.store import END, Store, archive, detect_all, open_store, side_table

SECOND = 1_000_000
GOOD = {"at": "2024-10-04T00:00:00Z", "server": "s1", "bytes": 1}


@dataclass(frozen=True)
class Landing:
    store: Store
    refused: dict[str, list[dict[str, object]]]


def _drop(folder: Path, name: str, content: str | bytes, order: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (END // SECOND + order, END // SECOND + order))


def _lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


@pytest.fixture(scope="module")
def landing(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Landing]:
    store = open_store(tmp_path_factory.mktemp("bad"))
    folder = Path(store.config.ingest.landing)
    good = _lines(GOOD)
    _drop(folder, "traffic/a.jsonl", good, 0)
    _drop(folder, "traffic/b.jsonl", _lines(GOOD | {"bytes": 2}, "{broken", {"server": "s1"}, GOOD | {"at": None}), 1)
    _drop(folder, "traffic/c.jsonl", _lines(GOOD | {"bytes": "many"}, GOOD | {"bytes": 3}), 2)
    _drop(folder, "traffic/d.csv", "at,server,bytes\n2024-10-04T00:00:00Z,s1,4\n2024-10-04,s1\n", 3)
    _drop(folder, "traffic/empty.jsonl", "", 4)
    _drop(folder, "traffic/copy-of-a.jsonl", good, 5)
    _drop(folder, "traffic/skewed.jsonl", _lines(GOOD | {"at": "2024-10-05T12:00:00Z"}), 6)
    _drop(folder, "traffic/notes.xml", "<x/>", 7)
    _drop(folder, "nobody/a.jsonl", good, 8)
    _drop(folder, "traffic/.half.jsonl", "half", 9)
    _drop(folder, "traffic/half.jsonl.tmp", '{"at": "2024-10-04T00:0', 9)
    detect_all(spark, store)
    table = side_table(store, "quarantine", ["file", "line"])
    assert table is not None
    refused: dict[str, list[dict[str, object]]] = {}
    for row in table.to_pylist():
        refused.setdefault(row["file"].rsplit("/", 1)[1], []).append(row)
    yield Landing(store, refused)
    store.catalog.close()


def _reasons(landing: Landing, name: str) -> list[tuple[object, object]]:
    return [(row["line"], row["reason"]) for row in landing.refused[name]]


@pytest.mark.spark
def test_malformed_lines_are_refused_with_reason_and_place(landing: Landing) -> None:
    """P4: line, reason and the text itself are kept."""
    found = _reasons(landing, "b.jsonl")
    assert [line for line, _ in found] == [2, 3, 4]
    assert str(found[0][1]).startswith("not JSON")
    assert found[1][1] == "at: missing"
    assert found[2][1] == "at: expected a TIMESTAMP, found null"
    assert _reasons(landing, "c.jsonl") == [(1, "bytes: expected BIGINT, found 'many'")]
    assert landing.refused["b.jsonl"][0]["text"] == "{broken"
    assert [line for line, _ in _reasons(landing, "d.csv")] == [3]


@pytest.mark.spark
def test_good_lines_beside_bad_ones_are_archived(landing: Landing) -> None:
    assert sorted(archive(landing.store, "traffic")["bytes"].to_pylist()) == [1, 2, 3, 4]


@pytest.mark.spark
def test_files_that_cannot_be_used_are_refused_whole(landing: Landing) -> None:
    """P4: a duplicate, an unknown stream, an unknown format, a clock a day ahead, nothing at all."""
    assert _reasons(landing, "empty.jsonl")[0][0] == 0
    assert str(_reasons(landing, "empty.jsonl")[0][1]).startswith("empty: ")
    ((line, reason),) = _reasons(landing, "copy-of-a.jsonl")
    assert line == 0
    assert str(reason).startswith("duplicate of ")
    assert str(reason).endswith("traffic/a.jsonl: 1 rows")
    assert "no stream reads from 'nobody'" in str(_reasons(landing, "a.jsonl")[0][1])
    assert "expected a file name that ends in" in str(_reasons(landing, "notes.xml")[0][1])
    assert "ahead of the file's time" in str(_reasons(landing, "skewed.jsonl")[0][1])


@pytest.mark.spark
def test_half_written_files_are_waited_for(landing: Landing, spark: SparkSession) -> None:
    """P3: a file counts once it has its final name."""
    assert not {".half.jsonl", "half.jsonl.tmp"} & landing.refused.keys()
    folder = Path(landing.store.config.ingest.landing) / "traffic"
    (folder / "half.jsonl.tmp").write_text(_lines(GOOD | {"bytes": 5}))
    (folder / "half.jsonl.tmp").rename(folder / "half.jsonl")
    detect_all(spark, landing.store)
    assert sorted(archive(landing.store, "traffic")["bytes"].to_pylist()) == [1, 2, 3, 4, 5]


@pytest.mark.spark
def test_a_file_of_long_ago_is_taken_like_any_other(landing: Landing, spark: SparkSession) -> None:
    """P3: a copied file keeps its old time, and is not passed over for it."""
    row = {"at": "2023-10-01T00:00:00Z", "server": "s1", "bytes": 6}
    _drop(Path(landing.store.config.ingest.landing), "traffic/old.jsonl", _lines(row), -365 * 86_400)
    detect_all(spark, landing.store)
    late = side_table(landing.store, "late/traffic", ["_pos"])
    assert late is not None
    assert late["bytes"].to_pylist() == [6]


@pytest.mark.spark
def test_counts_reconcile(landing: Landing) -> None:
    """P3: landed = archived + late + quarantined, streams nobody reads included."""
    totals = landing.store.catalog.totals()
    for counts in totals.values():
        assert counts.landed == counts.archived + counts.late + counts.quarantined
    assert totals["nobody"].quarantined == 1
    assert totals["traffic"].quarantined == sum(map(len, landing.refused.values())) - 1
