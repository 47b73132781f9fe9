"""When a process is started again: decided without a clock, a process or a sleep."""

from __future__ import annotations

import pytest

from moirae.adapters.platform.plan import Plan
from moirae.adapters.platform.processes import Process
from moirae.adapters.platform.restarts import Backoff, Life, State, become_ready, begin, end, may_start

BACKOFF = Backoff(first_s=1, factor=2, most_s=8, steady_s=60)


def die_at(life: Life, now_s: float, code: int = 1) -> Life:
    return end(life, code, restart=True, backoff=BACKOFF, now_s=now_s)


def test_a_process_that_keeps_dying_is_tried_ever_more_rarely() -> None:
    """P7: delays double up to a limit and never end."""
    life, now, delays = Life(), 0.0, []
    for _ in range(6):
        life = die_at(begin(life, 7, now, 0), now + 1)
        delays.append(life.due_s - (now + 1))
        now = life.due_s
    assert delays == [1, 2, 4, 8, 8, 8]
    assert (life.failures, life.restarts) == (6, 5)


def test_a_steady_life_forgives_earlier_deaths() -> None:
    """P7: one crash a day is restarted at once every time."""
    life = die_at(begin(Life(failures=5, state=State.BACKING_OFF), 7, 100.0, 0), 161.0)
    assert (life.failures, life.due_s) == (1, 162.0)


def test_a_program_that_cannot_be_run_counts_each_try() -> None:
    """P7: a failed try has no life of its own, however long ago the last one began."""
    life = die_at(Life(state=State.BACKING_OFF, began_s=0, failures=2), 1000.0)
    assert life.failures == 3


def test_a_step_ends_as_done_or_failed() -> None:
    """P7: steps such as a migration run once."""
    begun = begin(Life(), 7, 0.0, 0)
    assert end(begun, 0, restart=False, backoff=BACKOFF, now_s=1).state is State.DONE
    assert end(begun, 2, restart=False, backoff=BACKOFF, now_s=1).state is State.FAILED


def test_a_process_waits_for_those_before_it_but_only_the_first_time() -> None:
    """P7: a restart does not wait for the others."""
    begun = begin(Life(), 7, 0.0, 0)
    assert not may_start(Life(), ("a",), {"a": begun}, 0)
    assert may_start(Life(), ("a",), {"a": become_ready(begun)}, 0)
    dead = die_at(begun, 1.0)
    assert not may_start(dead, ("a",), {"a": begun}, 1.9)
    assert may_start(dead, ("a",), {"a": begun}, 2.0)
    assert not may_start(begun, (), {}, 9.0)


def test_a_plan_with_a_name_twice_or_a_wait_for_a_later_one_is_refused() -> None:
    """P7: such a plan would never be ready."""
    from pathlib import Path

    with pytest.raises(ValueError, match="one process a name"):
        Plan(Path("/data"), "r", (Process("a", ("true",)), Process("a", ("true",))))
    with pytest.raises(ValueError, match="'after' names \\['b'\\]"):
        Plan(Path("/data"), "r", (Process("a", ("true",), after=("b",)), Process("b", ("true",))))
