"""Who is next: a pure choice among waiting tasks, made anew for every turn.

A turn is a batch. The policy picks the winner; every waiting task that needs the same chunks for the same recall goes
along, because a chunk answers a thousand tasks for little more than one. Tasks carry `tickets`: the policy is the one
place that will weigh them (stride scheduling, feedback, priorities), and nothing else here has to change for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from moirae.recall.turns import Turn

DEFAULT_TICKETS = 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task with work left: one event, one recall, its turns, and how many of them are done."""

    eid: str
    recall: str
    event_at: int
    created_at: int
    turns: tuple[Turn, ...]
    turns_done: int = 0
    tickets: int = DEFAULT_TICKETS

    @property
    def turn(self) -> Turn:
        return self.turns[self.turns_done]


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks answered together from the same chunks, the winner first."""

    recall: str
    chunk_ids: tuple[str, ...]
    tasks: tuple[Waiting, ...]


Policy = Callable[[Waiting], Any]  # a key to sort by; the least wins


def first_come(task: Waiting) -> tuple[int, int, str, str]:
    """Tasks in the order they were created, the newest event first among those created together.

    A task keeps the lead until it is complete, so none starves however many come after it.
    """
    return (task.created_at, -task.event_at, task.recall, task.eid)


def next_turn(waiting: Iterable[Waiting], policy: Policy = first_come) -> Batch | None:
    """The next batch, or None if no task has a turn left."""
    ready = [task for task in waiting if task.turns_done < len(task.turns)]
    if not ready:
        return None
    winner = min(ready, key=policy)
    chunks = frozenset(winner.turn.chunk_ids)
    along = (t for t in ready if t.recall == winner.recall and frozenset(t.turn.chunk_ids) == chunks)
    return Batch(winner.recall, winner.turn.chunk_ids, tuple(sorted(along, key=policy)))
