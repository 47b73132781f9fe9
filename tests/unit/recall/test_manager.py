"""Every event answered turn by turn over a real catalog; chunks are tables in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.lang import bind
from moirae.model.schema import Type
from moirae.ports.catalog import Append, BatchCommit, Chunk, ChunkId, Eid, LiveEvent, NewTask, Revision
from moirae.recall.manager import ActiveRecall, RecallManager

PACK = bind(
    """
    CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at FROM LANDING 'traffic';
    CREATE EVENT large AS SELECT server, bytes FROM traffic WHERE bytes > 900;
    CREATE RECALL usual FOR large e OVER ALL REPORT EVERY '2 seconds'
    AS SELECT avg(h.bytes) AS mean, count(*) AS n FROM HISTORY(traffic) h WHERE h.server = e.server;
    """
)
SECOND = 1_000_000


@dataclass
class Rows:
    """Chunks by id, and how often each was read."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    read_chunks: list[str] = field(default_factory=list)

    def read(self, chunk: Chunk, columns: Sequence[str]) -> pa.Table:
        self.read_chunks.append(chunk.id)
        return self.tables[chunk.id].select(list(columns))


@dataclass
class History:
    """A catalog, the rows of its chunks, and a clock that moves on by `step` at every look."""

    catalog: SqlCatalog
    rows: Rows = field(default_factory=Rows)
    now: int = 0
    step: int = 10 * SECOND
    batches: int = 0

    def chunk(self, *rows: tuple[int, str, int]) -> Chunk:
        """Rows (second, server, bytes) as the next chunk, sealed."""
        chunk = self.catalog.present_chunk("traffic", "/archive", 0)
        at = [each[0] * SECOND for each in rows]
        self.rows.tables[chunk.id] = pa.table(
            {
                "at": pa.array(at, pa.timestamp("us")).cast(Type.TIMESTAMP.arrow),
                "server": [each[1] for each in rows],
                "bytes": pa.array([each[2] for each in rows], pa.int64()),
            }
        )
        append = Append("traffic", chunk.id, chunk.epoch, 0, len(rows), 100, min(at), max(at))
        self._commit(BatchCommit("detect", self.batches, 0, appends=[append]))
        self.catalog.roll(chunk.id, chunk.epoch, 0)
        return chunk

    def event(self, eid: str, at_s: int, server: str = "a") -> None:
        event = LiveEvent(Eid(eid), "large", 1, at_s * SECOND, json.dumps({"server": server, "bytes": 999}), 0, 0)
        task = NewTask(event.eid, "usual", 1, event.at)
        self.catalog.upsert_events([event])
        self._commit(BatchCommit("detect", self.batches, 0, tasks=[task]))

    def _commit(self, batch: BatchCommit) -> None:
        assert self.catalog.commit_batch(batch).outcome == "committed"
        self.batches += 1

    def clock(self) -> int:
        self.now += self.step
        return self.now

    def manager(self) -> RecallManager:
        (recall,), (stream,) = PACK.recalls, PACK.streams
        return RecallManager(self.catalog, self.rows, {("usual", 1): ActiveRecall(recall, 1, stream)}, self.clock)

    def answers(self, eid: str) -> list[Revision]:
        return self.catalog.revisions(Eid(eid))


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_catalog(f"sqlite:///{tmp_path}/catalog.db") as catalog:
        yield History(catalog)


def rows_of(revision: Revision) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(revision.answer)["rows"]
    return found


def take_all(manager: RecallManager) -> list[int]:
    """How many tasks each turn served."""
    served = []
    while count := manager.turn():
        served.append(count)
    return served


def three_chunks(history: History) -> None:
    history.chunk((0, "a", 100), (5, "b", 7), (10, "a", 200))
    history.chunk((11, "a", 600), (20, "b", 9))
    history.chunk((21, "a", 300), (30, "a", 999))


def test_an_answer_grows_from_the_newest_chunk_back(history: History) -> None:
    """M2, M10, M14: after each turn it is exact for the interval it names; counts are stretched to the whole."""
    three_chunks(history)
    history.event("e", 30)
    assert take_all(history.manager()) == [1, 1, 1]
    first, second, last = history.answers("e")
    assert [(r.op, r.covered_from, r.covered_to, r.chunks_done, r.complete) for r in (first, second, last)] == [
        ("insert", 20 * SECOND + 1, 30 * SECOND, 1, False),
        ("update", 10 * SECOND + 1, 30 * SECOND, 2, False),
        ("update", 0, 30 * SECOND, 3, True),
    ]
    assert [row["mean"] for revision in (first, second, last) for row in rows_of(revision)] == [300.0, 450.0, 300.0]
    assert rows_of(first)[0]["n"] == 3  # 1 row in 10 s of 30
    assert rows_of(last)[0]["n"] == 4


def test_events_that_need_the_same_chunk_share_a_turn(history: History) -> None:
    """M12, M18: one turn serves all that wait for the chunk, and the chunk is read once."""
    three_chunks(history)
    for number in range(5):
        history.event(f"e{number}", 30, "ab"[number % 2])
    assert take_all(history.manager()) == [5, 5, 5]
    assert len(history.rows.read_chunks) == len(set(history.rows.read_chunks)) == 3
    assert rows_of(history.answers("e1")[-1]) == [{"mean": 8.0, "n": 2}]


def test_a_manager_started_again_goes_on_where_the_last_turn_was_saved(history: History) -> None:
    """M12: what was covered is not read again, and the answer is the one of an uninterrupted run."""
    three_chunks(history)
    history.event("e", 30)
    history.event("calm", 30)
    history.manager().turn()
    before = list(history.rows.read_chunks)
    take_all(history.manager())
    again = history.rows.read_chunks[len(before) :]
    assert before == ["traffic/000003"]
    assert "traffic/000003" not in again
    last = history.answers("e")[-1]
    assert (rows_of(last), last.complete, last.chunks_done) == ([{"mean": 300.0, "n": 4}], True, 3)
    assert [revision.seq for revision in history.answers("e")] == [1, 2, 3]


def test_answers_are_not_told_more_often_than_asked_for(history: History) -> None:
    """M15: the first and the last always, in between at the period of the recall."""
    history.step = 1
    three_chunks(history)
    history.event("e", 30)
    take_all(history.manager())
    assert [(r.seq, r.chunks_done, r.complete) for r in history.answers("e")] == [(1, 1, False), (2, 3, True)]


def test_a_chunk_held_back_is_not_read_and_the_answer_says_so(history: History) -> None:
    """P4: nobody takes an answer for whole that is not."""
    three_chunks(history)
    history.catalog.record_check(ChunkId("traffic/000002"), False, "3 bad rows", 0)
    history.event("e", 30)
    take_all(history.manager())
    last = history.answers("e")[-1]
    assert json.loads(last.answer) == {"rows": [{"mean": 200.0, "n": 3}], "held_back": ["traffic/000002"]}
    assert "traffic/000002" not in history.rows.read_chunks


def test_an_event_without_a_past_is_answered_at_once(history: History) -> None:
    """M2: over no rows, and complete."""
    history.chunk((50, "a", 1))
    history.event("e", 10)
    assert history.manager().turn() == 0
    (only,) = history.answers("e")
    assert (only.op, only.complete, only.chunks_done, rows_of(only)) == ("insert", True, 0, [{"mean": None, "n": 0}])


def test_an_answer_over_held_chunks_alone_names_them(history: History) -> None:
    """P4: nothing to read is not the same as nothing there."""
    three_chunks(history)
    for number in (1, 2, 3):
        history.catalog.record_check(ChunkId(f"traffic/{number:06d}"), False, "bad", 0)
    history.event("e", 30)
    assert history.manager().turn() == 0
    (only,) = history.answers("e")
    assert json.loads(only.answer)["held_back"] == ["traffic/000001", "traffic/000002", "traffic/000003"]


def test_a_recall_undeployed_in_the_middle_of_an_answer_ends_it(history: History) -> None:
    """M9: the answer so far stays, the task is cancelled, and the manager goes on."""
    three_chunks(history)
    history.event("e", 30)
    manager = history.manager()
    assert manager.turn() == 1
    manager.recalls = {}
    assert manager.turn() == 0
    assert history.catalog.task_counts()["cancelled"] == 1
    assert len(history.answers("e")) == 1


def test_a_task_whose_recall_is_gone_is_cancelled(history: History) -> None:
    """M9: undeploying tears down what waits, and the task says why."""
    three_chunks(history)
    history.event("e", 30)
    manager = history.manager()
    manager.recalls = {}
    assert manager.turn() == 0
    assert history.catalog.task_counts()["cancelled"] == 1
    assert history.answers("e") == []
