"""What is asked of history for an event: by the recalls deployed for it, and by the tasks still under way.

A recall is `waiting` until its task exists, `asking` while chunks are left, `complete` at the end; `stopped` is one
that will not go on by itself (cancelled, failed, or its recall no longer deployed).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, Deployed, LiveEvent, Revision

MOST_TASKS = 5000
OPEN = ("waiting", "asking")
_PATIENCE_US = 30_000_000  # events are visible a moment before their tasks are written


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recall asks of the archive of `stream`; `over_us` None is all of it."""

    stream: str
    over_us: int | None
    times: tuple[str, ...] = ()  # the answer's columns that are times


def asked_of(catalog: Catalog) -> dict[str, Asked]:
    """What each deployed recall asks."""
    from moirae.cli.deploying import bind_deployed
    from moirae.model.schema import Type

    return {
        recall.name: Asked(
            recall.stream, recall.over_us, tuple(c.name for c in recall.schema if c.type is Type.TIMESTAMP)
        )
        for recall in bind_deployed(catalog.active()).recalls
    }


def expected_recalls(active: Iterable[Deployed], event: LiveEvent) -> dict[str, int]:
    """Recalls that were deployed for the event's query when it was seen, with their versions."""
    wanted = [each for each in active if each.kind == "recall" and each.reads[:1] == (event.query,)]
    return {each.name: each.version for each in wanted if each.deployed_at <= event.seen_at}


@dataclass(frozen=True, slots=True)
class Pending:
    """Unfinished recalls of the newest events with their versions. Events older than `back_to` were not looked at."""

    by_eid: Mapping[str, Mapping[str, int]]
    back_to: int | None = None

    @classmethod
    def of(cls, catalog: Catalog, most: int = MOST_TASKS) -> Pending:
        found: dict[str, dict[str, int]] = {}
        tasks = catalog.pending_tasks(most)
        for task in tasks:
            found.setdefault(task.eid, {})[task.recall] = task.recall_version
        return cls(found, tasks[-1].event_at if len(tasks) == most else None)

    def of_event(self, eid: str) -> Mapping[str, int]:
        return self.by_eid.get(eid, {})

    def may_hold(self, event: LiveEvent, recall: str) -> bool:
        unseen = self.back_to is not None and event.at <= self.back_to
        return unseen or recall in self.of_event(event.eid)


def state_of(answer: Revision | None, pending: bool, age_us: int) -> str:
    """The state of one recall of an event that was seen so long ago."""
    if answer is not None and answer.complete:
        return "complete"
    if pending:
        return "asking"
    return "waiting" if answer is None and age_us < _PATIENCE_US else "stopped"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the recalls of an event are, for a list of events."""

    state: str
    complete: int = 0
    recalls: int = 0

    def __str__(self) -> str:
        """
        >>> str(Progress("none")), str(Progress("asking", 1, 2)), str(Progress("complete", 2, 2))
        ('-', 'asking 1/2', 'complete')
        """
        if self.state == "none":
            return "-"
        return self.state if self.state == "complete" else f"{self.state} {self.complete}/{self.recalls}"


def progress_of(
    event: LiveEvent, answers: Sequence[Revision], pending: Pending, expected: Iterable[str], now: int
) -> Progress:
    """All recalls of an event together: what goes on comes before what stopped, and `complete` is all of them."""
    by_name = {answer.recall: answer for answer in answers}
    names = {*by_name, *pending.of_event(event.eid), *expected}
    age = now - event.seen_at
    states = [state_of(by_name.get(name), pending.may_hold(event, name), age) for name in names]
    state = next((each for each in ("asking", "waiting", "stopped", "complete") if each in states), "none")
    return Progress(state, states.count("complete"), len(states))
