"""The table of answers: every revision once, whatever happens between two appends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from moirae.adapters import answers
from moirae.adapters.answers import ANSWERS, AnswersTable
from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.adapters.delta import commit_files, latest_version, read_table, write_file
from moirae.ports.catalog import BatchCommit, Eid, LiveEvent, NewTask, Revision, TurnSaved


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    with open_catalog(f"sqlite:///{tmp_path}/catalog.db") as opened:
        events = [LiveEvent(Eid(eid), "busy", 1, 100, "{}", 0, 0) for eid in ("e1", "e2")]
        tasks = [NewTask(event.eid, "usual", 3, 100) for event in events]
        opened.upsert_events(events)
        opened.commit_batch(BatchCommit("detect", 0, 0, tasks=tasks))
        yield opened


def answer(catalog: SqlCatalog, eid: str, seq: int) -> None:
    """One more turn."""
    told = json.dumps({"rows": [{"mean": seq}]})
    op = "insert" if seq == 1 else "update"
    revision = Revision(Eid(eid), "usual", 3, seq, op, 100, 100 - seq, 100, seq, False, told, 7)  # type: ignore[arg-type]
    saved = TurnSaved(Eid(eid), "usual", 3, "running", seq, 100 - seq, 100, b"", 7, revisions=(revision,))
    assert catalog.save_turns([saved]) == 1


def told(place: str) -> list[tuple[str, int]]:
    return [(row["eid"], row["seq"]) for row in read_table(place).to_pylist()]


def test_a_row_holds_the_revision_whole(catalog: SqlCatalog, tmp_path: Path) -> None:
    """M16: the event and its time, what was done, the interval covered, the answer."""
    answer(catalog, "e1", 1)
    table = AnswersTable(catalog, f"{tmp_path}/answers")
    assert table.publish() == 1
    rows = read_table(table.place)
    assert rows.schema.equals(ANSWERS)
    (row,) = rows.to_pylist()
    when = {name: datetime.fromtimestamp(us / 1e6, UTC) for name, us in (("at", 100), ("from", 99), ("made", 7))}
    assert row == {
        "eid": "e1",
        "recall": "usual",
        "version": 3,
        "at": when["at"],
        "seq": 1,
        "op": "insert",
        "covered_from": when["from"],
        "covered_to": when["at"],
        "chunks_done": 1,
        "complete": False,
        "answer": '{"rows": [{"mean": 1}]}',
        "made_at": when["made"],
    }


def test_nothing_new_writes_nothing(catalog: SqlCatalog, tmp_path: Path) -> None:
    """P3: an idle platform makes no versions."""
    table = AnswersTable(catalog, f"{tmp_path}/answers")
    assert table.publish() == 0
    assert latest_version(table.place) is None
    answer(catalog, "e1", 1)
    assert (table.publish(), table.publish()) == (1, 0)
    assert latest_version(table.place) == 0


def test_whoever_comes_next_goes_on_behind_the_last(catalog: SqlCatalog, tmp_path: Path) -> None:
    """P3: a process that ended knows nothing; the table does."""
    answer(catalog, "e1", 1)
    AnswersTable(catalog, f"{tmp_path}/answers").publish()
    answer(catalog, "e2", 1)
    answer(catalog, "e1", 2)
    assert AnswersTable(catalog, f"{tmp_path}/answers").publish() == 2
    assert told(f"{tmp_path}/answers") == [("e1", 1), ("e2", 1), ("e1", 2)]


def test_killed_between_file_and_commit_leaves_nothing_and_loses_nothing(
    catalog: SqlCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P3: a file that no commit names is garbage; after the commit, the same append is not made twice."""
    answer(catalog, "e1", 1)
    place = f"{tmp_path}/answers"

    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(answers, "commit_files", killed)
        with pytest.raises(KeyboardInterrupt):
            AnswersTable(catalog, place).publish()
    assert AnswersTable(catalog, place).publish() == 1
    (number, _) = catalog.revisions_after(0, 1)[0]
    again = write_file(place, read_table(place))
    commit_files(place, ANSWERS, [again], answers.WRITER, number)
    assert told(place) == [("e1", 1)]


def test_many_revisions_are_several_appends(
    catalog: SqlCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M16: memory is bounded by an append, not by what waits."""
    monkeypatch.setattr(answers, "MOST", 2)
    for seq in range(1, 6):
        answer(catalog, "e1", seq)
    table = AnswersTable(catalog, f"{tmp_path}/answers")
    assert table.publish() == 5
    assert latest_version(table.place) == 2
    assert told(table.place) == [("e1", seq) for seq in range(1, 6)]
