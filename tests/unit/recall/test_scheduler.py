"""M12: a turn is a batch; the policy is one function."""

from __future__ import annotations

from dataclasses import replace

from moirae.recall.scheduler import Waiting, next_turn
from moirae.recall.turns import Turn

NEW, OLD = Turn(10, 20, ("b",)), Turn(0, 10, ("b", "a"))


def task(eid: str, created: int, event_at: int = 0, recall: str = "usual", done: int = 0) -> Waiting:
    return Waiting(eid, recall, event_at, created, (NEW, OLD), done)


def test_nothing_waits_then_nothing_runs() -> None:
    """M12: finished tasks ask for no turn."""
    assert next_turn([]) is None
    assert next_turn([task("x", 1, done=2)]) is None
    assert next_turn([Waiting("x", "usual", 0, 0, ())]) is None


def test_oldest_task_wins_and_the_newest_event_among_equals() -> None:
    batch = next_turn([task("late", 2, 99), task("p", 1, 5, "r1"), task("q", 1, 7, "r2")])
    assert batch is not None
    assert [t.eid for t in batch.tasks] == ["q"]


def test_every_task_with_the_same_recall_and_chunks_goes_along() -> None:
    """M12, M18: tasks that need the same chunk share its scan, whatever their own slice is."""
    shifted = replace(task("shifted", 5), turns=(Turn(10, 17, ("b",)), OLD))
    others = [task("other_recall", 3, recall="rare"), task("further", 3, done=1)]
    batch = next_turn([task("second", 2), *others, shifted, task("first", 1)])
    assert batch is not None
    assert (batch.recall, batch.chunk_ids) == ("usual", ("b",))
    assert [t.eid for t in batch.tasks] == ["first", "second", "shifted"]


def test_same_chunks_in_another_order_are_the_same_turn() -> None:
    turned = replace(task("turned", 2, done=1), turns=(NEW, Turn(0, 10, ("a", "b"))))
    batch = next_turn([task("first", 1, done=1), turned])
    assert batch is not None
    assert len(batch.tasks) == 2


def test_policy_can_be_replaced() -> None:
    rich = replace(task("rich", 9), recall="rare", tickets=500)
    batch = next_turn([task("first", 1), rich], policy=lambda waiting: -waiting.tickets)
    assert batch is not None
    assert batch.tasks == (rich,)
