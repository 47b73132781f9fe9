"""What is asked of history for an event: by the recalls deployed for it, and by the tasks still under way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, Deployed, LiveEvent, Revision

MOST_TASKS = 5000


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


def progress_of(event: LiveEvent, answers: Sequence[Revision], pending: Pending) -> Progress:
    """`stopped` is an event whose recalls are neither complete nor under way."""
    done = sum(answer.complete for answer in answers)
    names = {answer.recall for answer in answers} | set(pending.of_event(event.eid))
    if not names:
        return Progress("none")
    under_way = any(pending.may_hold(event, name) for name in names)
    state = "complete" if done == len(names) else "asking" if under_way else "stopped"
    return Progress(state, done, len(names))
