"""What every catalog promises about live events, recall tasks and answers, runs and processes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moirae.errors import CatalogError
from moirae.ports.catalog import (
    BatchCommit,
    Beat,
    Catalog,
    Eid,
    LiveEvent,
    NewTask,
    Revision,
    RevisionOp,
    RunId,
    TurnSaved,
)


def event(eid: str, at: int = 100, query: str = "busy", seen_at: int = 1000) -> LiveEvent:
    return LiveEvent(Eid(eid), query, 1, at, '{"server": "s1"}', 7, seen_at)


def ask(catalog: Catalog, *tasks: NewTask, batch_id: int = 0) -> None:
    events = [event(task.eid, task.event_at) for task in tasks]
    catalog.upsert_events(events)
    batch = BatchCommit("detect", batch_id, committed_at=500, tasks=tasks)
    assert catalog.commit_batch(batch).outcome == "committed"


def revision(eid: str, seq: int, recall: str = "usual", version: int = 1) -> Revision:
    op: RevisionOp = "insert" if seq == 1 else "update"
    return Revision(
        Eid(eid), recall, version, seq, op, 100, 50 - seq, 99, seq, seq == 3, f'{{"mean": {seq}}}', 600 + seq
    )


def turn(eid: str, done: int, recall: str = "usual", version: int = 1) -> TurnSaved:
    return TurnSaved(
        eid=Eid(eid),
        recall=recall,
        recall_version=version,
        state="complete" if done == 3 else "running",
        turns_done=done,
        covered_from=50 - done,
        covered_to=99,
        partial=bytes([0, done, 255]),
        updated_at=600 + done,
        revisions=(revision(eid, done, recall, version),),
    )


# Live events


def test_an_event_seen_again_stays_as_it_was_first_seen(catalog: Catalog) -> None:
    """M1: a replayed batch writes the same eids and changes nothing."""
    catalog.upsert_events([event("e1"), event("e2", at=200)])
    catalog.upsert_events([event("e1", seen_at=9999), event("e3")])
    assert catalog.event("e1") == event("e1")
    assert catalog.event_count() == {"busy": 3}


def test_events_come_newest_first(catalog: Catalog) -> None:
    """M1: by time, then by eid; of one query, since a time, and not more than asked for."""
    catalog.upsert_events([event("b", 10), event("a", 10), event("c", 30), event("d", 20, query="jam")])
    assert [item.eid for item in catalog.events()] == ["c", "d", "a", "b"]
    assert [item.eid for item in catalog.events("busy", limit=2)] == ["c", "a"]
    assert [item.eid for item in catalog.events(since=20)] == ["c", "d"]
    assert catalog.event_count() == {"busy": 3, "jam": 1}


def test_an_event_is_found_by_a_prefix_that_only_it_has(catalog: Catalog) -> None:
    """P6: the console shows short ids and takes them back."""
    catalog.upsert_events([event("abc1"), event("abc2"), event("abd"), event("ab"), event("a%")])
    assert catalog.event("abd").eid == "abd"
    assert catalog.event("abc1").eid == "abc1"
    assert catalog.event("ab").eid == "ab"  # whole, although others begin with it
    with pytest.raises(CatalogError, match="several events begin with 'abc', such as 'abc1' and 'abc2'; write more"):
        catalog.event("abc")
    for unknown in ("x", "ABD", "abd%", "a_"):
        with pytest.raises(CatalogError, match=r"no event begins with .*; `moirae events` lists the newest"):
            catalog.event(unknown)


def test_pruning_forgets_what_was_seen_before_with_its_answers(catalog: Catalog) -> None:
    """M1: the log does not grow for ever; an event whose history is still asked stays."""
    ask(catalog, NewTask(Eid("done"), "usual", 1, 100), NewTask(Eid("asking"), "usual", 1, 100))
    catalog.save_turns([turn("done", 3)])
    catalog.upsert_events([event("new", at=1, seen_at=5000)])
    assert catalog.prune_events(before=1001) == 1
    assert {item.eid for item in catalog.events()} == {"asking", "new"}
    assert catalog.revisions(Eid("done")) == []
    assert catalog.task_counts()["complete"] == 0
    assert catalog.prune_events(before=1001) == 0


def test_a_flood_of_events_is_one_write(catalog: Catalog) -> None:
    """P2: ten thousand in one batch, in whatever order their eids come."""
    catalog.upsert_events([event(f"{number * 7919 % 10007:05x}", number) for number in range(10_000)])
    assert catalog.event_count() == {"busy": 10_000}


# Recall tasks and answers


def test_tasks_wait_newest_event_first(catalog: Catalog) -> None:
    """M12: one task per event and recall, with equal tickets."""
    ask(catalog, *(NewTask(Eid(f"e{at}"), recall, 1, at) for at in (10, 30, 20) for recall in ("usual", "peak")))
    waiting = catalog.pending_tasks(limit=5)
    assert [(task.eid, task.recall) for task in waiting] == [
        ("e30", "peak"),
        ("e30", "usual"),
        ("e20", "peak"),
        ("e20", "usual"),
        ("e10", "peak"),
    ]
    first = waiting[0]
    assert (first.state, first.turns_done, first.tickets, first.created_at, first.partial) == (
        "pending",
        0,
        100,
        500,
        None,
    )


def test_a_task_made_again_keeps_what_it_has_done(catalog: Catalog) -> None:
    """M12: the same event in a later batch asks nothing new."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100))
    catalog.save_turns([turn("e1", 1)])
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100), batch_id=1)
    assert [task.turns_done for task in catalog.pending_tasks(10)] == [1]


def test_a_turn_saves_the_task_and_its_revision_together(catalog: Catalog) -> None:
    """M14: the partial state and the answer it led to never differ."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100), NewTask(Eid("e2"), "usual", 1, 100))
    assert catalog.save_turns([turn("e1", 1), turn("e2", 1)]) == 2
    assert catalog.save_turns([turn("e1", 2)]) == 1
    task = next(task for task in catalog.pending_tasks(10) if task.eid == "e1")
    assert (task.state, task.turns_done, task.covered_from, task.covered_to) == ("running", 2, 48, 99)
    assert (task.partial, task.updated_at, task.error) == (b"\x00\x02\xff", 602, "")
    assert catalog.revisions(Eid("e1")) == [revision("e1", 1), revision("e1", 2)]


def test_a_task_left_running_by_a_killed_process_is_taken_up_again(catalog: Catalog) -> None:
    """M12: it waits with what it had covered."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100))
    catalog.save_turns([turn("e1", 2)])
    assert [(task.state, task.turns_done) for task in catalog.pending_tasks(10)] == [("running", 2)]
    assert catalog.save_turns([turn("e1", 3)]) == 1
    assert catalog.pending_tasks(10) == []
    assert catalog.task_counts() == {"pending": 0, "running": 0, "complete": 1, "cancelled": 0, "failed": 0}


def test_a_finished_task_is_not_changed_by_a_turn_under_way(catalog: Catalog) -> None:
    """M13: cancelled stays cancelled, and a turn saved twice counts once."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100))
    catalog.save_turns([replace(turn("e1", 1), state="cancelled")])
    assert catalog.save_turns([turn("e1", 2)]) == 0
    assert catalog.revisions(Eid("e1")) == [revision("e1", 1)]
    assert catalog.task_counts()["cancelled"] == 1


def test_turns_are_saved_all_or_none(catalog: Catalog) -> None:
    """M12: a turn that cannot be written takes the others of its transaction back."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100))
    broken = replace(turn("e1", 2), revisions=(revision("no such task", 1),))
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        catalog.save_turns([turn("e1", 1), broken])
    assert [task.turns_done for task in catalog.pending_tasks(10)] == [0]


def test_the_latest_answer_of_each_recall_is_of_its_newest_version(catalog: Catalog) -> None:
    """M16: a changed recall asks anew, and its answers are numbered anew."""
    versions = [("usual", 1), ("usual", 2), ("peak", 1)]
    ask(catalog, *(NewTask(Eid("e1"), recall, version, 100) for recall, version in versions))
    for done in (1, 2):
        catalog.save_turns([turn("e1", done, "usual", 1)])
    catalog.save_turns([turn("e1", 1, "usual", 2), turn("e1", 1, "peak", 1)])
    assert catalog.latest_answers(Eid("e1")) == [revision("e1", 1, "peak"), revision("e1", 1, "usual", 2)]
    assert [(made.recall_version, made.seq) for made in catalog.revisions(Eid("e1"), "usual")] == [
        (1, 1),
        (1, 2),
        (2, 1),
    ]
    assert catalog.latest_answers(Eid("e2")) == []


def test_revisions_are_carried_on_from_the_last_one_seen(catalog: Catalog) -> None:
    """M16: in the order they were committed, whichever task they are of; none is left out, none comes twice."""
    ask(catalog, *(NewTask(Eid(eid), "usual", 1, 100) for eid in ("e1", "e2")))
    catalog.save_turns([turn("e2", 1)])
    catalog.save_turns([turn("e1", 1), turn("e2", 2)])
    first = catalog.revisions_after(0, limit=2)
    assert len(first) == 2
    assert first[0][1] == revision("e2", 1)
    rest = catalog.revisions_after(first[-1][0], limit=10)
    assert sorted([made for _, made in first + rest], key=str) == sorted(
        [revision("e2", 1), revision("e1", 1), revision("e2", 2)], key=str
    )
    assert catalog.revisions_after(rest[-1][0], limit=10) == []


def test_a_turn_that_does_not_count_leaves_no_revision_to_carry(catalog: Catalog) -> None:
    """M13: what a cancelled task had under way is told to nobody."""
    ask(catalog, NewTask(Eid("e1"), "usual", 1, 100))
    catalog.save_turns([replace(turn("e1", 1), state="cancelled", revisions=())])
    assert catalog.save_turns([turn("e1", 2)]) == 0
    assert catalog.revisions_after(0, limit=10) == []


# Runs and processes


def test_a_run_is_followed_from_start_to_end(catalog: Catalog) -> None:
    """P1: what a job was given and what came of it are one record; the newest comes first."""
    first = catalog.start_run("job", "seal_chunks", '{"stream": "traffic", "chunks": 0}', now=1)
    second = catalog.start_run("job", "check_chunks", "{}", now=2)
    done = catalog.finish_run(first, "ok", '{"chunks": 3}', now=9)
    assert (done.status, done.fields, done.started_at, done.finished_at) == (
        "ok",
        '{"chunks": 3, "stream": "traffic"}',
        1,
        9,
    )
    assert [(run.id, run.status, run.finished_at) for run in catalog.runs(limit=5)] == [
        (second, "running", None),
        (first, "ok", 9),
    ]
    assert [run.id for run in catalog.runs(limit=1)] == [second]
    with pytest.raises(CatalogError, match="run 4711: the catalog does not know it"):
        catalog.finish_run(RunId(4711), "ok", "{}", now=9)


def test_the_last_beat_of_each_process_is_kept(catalog: Catalog) -> None:
    """P6: status shows every process by its last sign of life."""
    catalog.beat("recall_history", 11, "starting", "{}", now=1)
    catalog.beat("detect_events", 12, "running", '{"lag_s": 1}', now=2)
    catalog.beat("recall_history", 13, "running", "{}", now=3)
    assert catalog.beats() == [
        Beat("detect_events", 12, "running", '{"lag_s": 1}', 2),
        Beat("recall_history", 13, "running", "{}", 3),
    ]
