"""What every catalog promises when several processes use it at once, and when one of them is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, TypeVar

from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.ports.catalog import Append, BatchCommit, Catalog, Chunk, NewStatement

WORKER = Path(__file__).with_name("catalog_worker.py")
T = TypeVar("T")


def start(what: str, url: str, count: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), what, url, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def at_once(url: str, times: int, work: Callable[[SqlCatalog], T]) -> list[T]:
    """The same work on several connections, begun together."""
    barrier = Barrier(times)

    def one(_: int) -> T:
        with open_catalog(url) as catalog:
            barrier.wait()
            return work(catalog)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def commit(catalog: Catalog, chunk: Chunk, batch_id: int) -> str:
    append = Append(chunk.stream, chunk.id, chunk.epoch, batch_id, 10, 80, 0, 9)
    return catalog.commit_batch(BatchCommit("detect", batch_id, committed_at=1, appends=[append])).outcome


def test_a_first_chunk_asked_for_by_many_is_opened_once(catalog: SqlCatalog, url: str) -> None:
    """M7: a stream has exactly one open chunk."""
    opened = at_once(url, 4, lambda each: each.present_chunk("traffic", "/archive", now=1))
    assert len(set(opened)) == len(catalog.chunks()) == 1


def test_a_chunk_rolled_by_many_at_once_is_rolled_once(catalog: SqlCatalog, url: str) -> None:
    """M7: one roll, and everybody learns which chunk is open now."""
    for batch_id in range(5):
        chunk = catalog.present_chunk("traffic", "/archive", now=1)
        assert commit(catalog, chunk, batch_id) == "committed"
        opened = at_once(url, 3, lambda each, chunk=chunk: each.roll(chunk.id, chunk.epoch, now=2))  # type: ignore[misc]
        assert {item.sequence for item in opened} == {chunk.sequence + 1}
    assert [item.state for item in catalog.chunks()] == ["sealed"] * 5 + ["open"]


def test_a_batch_committed_by_two_runs_of_a_job_counts_once(catalog: SqlCatalog, url: str) -> None:
    """P3: a zombie and its successor commit the same batch; one of them is told that it is there already."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    for batch_id in range(5):
        outcomes = at_once(url, 3, lambda each, batch_id=batch_id: commit(each, chunk, batch_id))  # type: ignore[misc]
        assert Counter(outcomes) == {"committed": 1, "already": 2}
    assert catalog.chunks()[0].rows == 50


def test_a_generation_published_by_many_at_once_is_published_once(catalog: SqlCatalog, url: str) -> None:
    """P5: two compactions that finish together leave one pointer and one retired folder."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    commit(catalog, chunk, 0)
    catalog.roll(chunk.id, chunk.epoch, now=2)
    won = at_once(url, 3, lambda each: each.publish_generation(chunk.id, 0, f"/g1/{id(each)}", 0, 10, 80, now=3))
    assert sorted(won) == [False, False, True]
    assert len(catalog.retired(before=4)) == 1


def test_packs_deployed_at_once_become_versions_one_after_the_other(catalog: SqlCatalog, url: str) -> None:
    """M9: no version is lost or given twice, and one is active."""

    def deploy(each: SqlCatalog) -> int:
        return each.deploy([NewStatement("stream", "traffic", "…", f"fingerprint {id(each)}")], now=1)[0].version

    assert sorted(at_once(url, 4, deploy)) == [1, 2, 3, 4]
    assert [item.version for item in catalog.versions("traffic") if item.active] == [4]
    assert catalog.program_version() == 4


def test_rows_committed_while_chunks_roll_are_neither_lost_nor_doubled(catalog: SqlCatalog, url: str) -> None:
    """M7: every batch is in one chunk, inside the version it was sealed at, or goes to the next chunk."""
    committing, rolling = start("commits", url, 150), start("rolls", url, 150)
    report, _ = said(committing), said(rolling)
    chunks = catalog.chunks("traffic")
    batches = Counter(id_ for id_, _ in report["taken"])
    last_version = dict(map(tuple, report["taken"]))
    assert report["rolled"] > 0  # the two did meet
    assert sum(chunk.rows for chunk in chunks) == 1500
    assert {chunk.id: chunk.rows for chunk in chunks if chunk.rows} == {
        id_: 10 * count for id_, count in batches.items()
    }
    assert {chunk.id: chunk.delta_version for chunk in chunks if chunk.rows} == last_version
    assert [chunk.sequence for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert len(catalog.events(limit=1000)) == len(catalog.pending_tasks(1000)) == 150


def test_a_batch_killed_at_any_statement_is_there_whole_or_not_at_all(catalog: SqlCatalog, url: str) -> None:
    """P3: kill -9 before each statement of a commit, and before the commit itself, leaves nothing behind."""
    *killed, survived = said(start("dies", url))
    nothing, whole = [None, 0, 0, 0, 0], [1, 10, 10, 1, 1]
    assert len(killed) >= 8  # every statement of the transaction had its turn
    assert killed == [nothing] * len(killed)
    assert survived == whole


def test_a_catalog_created_by_several_processes_is_created_once(url: str) -> None:
    """P7: the jobs of a new platform start together and all find the same catalog."""
    processes = [start("opens", url) for _ in range(3)]
    assert [said(process) for process in processes] == [{"program": 0}] * 3
