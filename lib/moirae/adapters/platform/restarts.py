"""When a process is started, restarted or given up: pure functions over what is known of its life.

Invariant: a process that keeps dying is tried again ever more rarely, but for ever; one that ran steadily and then died
starts afresh at the shortest delay. A process that is not restarted ends as `done` or `failed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class State(StrEnum):
    WAITING = "waiting"  # for the processes named in `after`
    STARTING = "starting"
    READY = "ready"
    BACKING_OFF = "backing off"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


SETTLED = frozenset({State.READY, State.DONE})
RUNNING = frozenset({State.STARTING, State.READY})


@dataclass(frozen=True, slots=True)
class Backoff:
    first_s: float = 1.0
    factor: float = 2.0
    most_s: float = 30.0
    steady_s: float = 60.0  # a life this long is no failure to start

    def delay_s(self, failures: int) -> float:
        """
        >>> [Backoff().delay_s(failures) for failures in (1, 2, 3, 10, 5000)]
        [1.0, 2.0, 4.0, 30.0, 30.0]
        """
        doublings = min(failures - 1, 60)  # beyond that the power only overflows
        return min(self.most_s, self.first_s * self.factor**doublings)


@dataclass(frozen=True, slots=True)
class Life:
    """`failures` counts deaths in a row, `restarts` all of them; `due_s` is when it may be started again."""

    state: State = State.WAITING
    pid: int | None = None
    began_s: float = 0.0
    began_us: int = 0
    due_s: float = 0.0
    failures: int = 0
    restarts: int = 0
    exit_code: int | None = None
    was_ready: bool = False


def may_start(life: Life, after: tuple[str, ...], lives: Mapping[str, Life], now_s: float) -> bool:
    if life.state is State.BACKING_OFF:
        return now_s >= life.due_s
    return life.state is State.WAITING and all(lives[name].state in SETTLED for name in after)


def begin(life: Life, pid: int, now_s: float, now_us: int) -> Life:
    again = life.state is State.BACKING_OFF
    restarts = life.restarts + again
    return replace(life, state=State.STARTING, pid=pid, began_s=now_s, began_us=now_us, restarts=restarts)


def become_ready(life: Life) -> Life:
    return replace(life, state=State.READY, was_ready=True)


def end(life: Life, exit_code: int, restart: bool, backoff: Backoff, now_s: float) -> Life:
    """What follows from a death nobody asked for."""
    if not restart:
        state = State.DONE if exit_code == 0 else State.FAILED
        return replace(life, state=state, pid=None, exit_code=exit_code)
    steady = life.state is not State.BACKING_OFF and now_s - life.began_s >= backoff.steady_s
    failures = 1 if steady else life.failures + 1
    due_s = now_s + backoff.delay_s(failures)
    return replace(
        life, state=State.BACKING_OFF, pid=None, exit_code=exit_code, failures=failures, due_s=due_s
    )  # fmt: skip
