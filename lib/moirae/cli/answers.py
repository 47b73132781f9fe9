"""How far history has answered an event, as one value: for JSON, for the screen, and to know when to stop looking.

A recall is `waiting` until its task exists, `asking` while chunks are left, `complete` at the end; `stopped` is one
that will not go on by itself (cancelled, failed, or its recall no longer deployed).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moirae.cli.times import iso

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, Deployed, LiveEvent, Revision

MOST_TASKS = 5000
_PATIENCE_US = 30_000_000  # events are visible a moment before their tasks are written
OPEN = ("waiting", "asking")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recall asks of the archive of `stream`; `over_us` None is all of it."""

    stream: str
    over_us: int | None
    times: tuple[str, ...] = ()  # the answer's columns that are times


@dataclass(frozen=True, slots=True)
class Recalled:
    """One recall of an event. `share` is how much of the asked interval is covered; None if that is not known."""

    recall: str
    version: int
    state: str
    rows: tuple[Mapping[str, Any], ...] = ()
    held_back: tuple[str, ...] = ()
    asked_from: int | None = None
    archive_from: int | None = None
    covered_from: int | None = None
    covered_to: int | None = None
    chunks_done: int = 0
    revision: int = 0
    made_at: int | None = None
    share: float | None = None

    def fields(self) -> dict[str, object]:
        plain = ("recall", "version", "state", "revision", "chunks_done", "share")
        times = ("asked_from", "covered_from", "covered_to", "made_at")
        return {
            **{name: getattr(self, name) for name in plain},
            "complete": self.state == "complete",
            **{name: iso(getattr(self, name)) for name in times},
            "held_back": list(self.held_back),
            "rows": [dict(row) for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Answered:
    event: LiveEvent
    recalls: tuple[Recalled, ...]

    @property
    def open(self) -> bool:
        return any(recall.state in OPEN for recall in self.recalls)

    def fields(self) -> dict[str, object]:
        event = self.event
        head = {"eid": event.eid, "query": event.query, "version": event.version, "at": iso(event.at)}
        columns = json.loads(event.columns)
        recalls = [recall.fields() for recall in self.recalls]
        return {**head, "seen_at": iso(event.seen_at), "columns": columns, "recalls": recalls}


def find_answer(catalog: Catalog, event: LiveEvent, asked: Mapping[str, Asked], now: int) -> Answered:
    """All recalls of an event: those that answered, those under way, and those it can still expect."""
    answers = {revision.recall: revision for revision in catalog.latest_answers(event.eid)}
    pending = Pending.of(catalog)
    tasks = pending.of_event(event.eid)
    expected = expected_recalls(catalog.active(), event)
    known = {**expected, **tasks, **{name: answer.recall_version for name, answer in answers.items()}}
    first = {stream: _archive_from(catalog, stream) for stream in {each.stream for each in asked.values()}}
    return Answered(
        event,
        tuple(
            _recalled(
                name, version, event, answers.get(name), pending.may_hold(event, name), asked.get(name), first, now
            )
            for name, version in sorted(known.items())
        ),
    )


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


def expected_recalls(active: Iterable[Deployed], event: LiveEvent) -> dict[str, int]:
    """Recalls that were deployed for the event's query when it was seen."""
    wanted = [each for each in active if each.kind == "recall" and each.reads[:1] == (event.query,)]
    return {each.name: each.version for each in wanted if each.deployed_at <= event.seen_at}


def _recalled(
    name: str,
    version: int,
    event: LiveEvent,
    answer: Revision | None,
    pending: bool,
    asked: Asked | None,
    first: Mapping[str, int | None],
    now: int,
) -> Recalled:
    state = _state(answer, pending, now - event.seen_at)
    archive_from = first.get(asked.stream) if asked else None
    asked_from = (archive_from if asked.over_us is None else event.at - asked.over_us) if asked else None
    if answer is None:
        return Recalled(name, version, state, asked_from=asked_from, archive_from=archive_from)
    content = json.loads(answer.answer)
    share = _share(asked_from, archive_from, answer, event.at)
    return Recalled(
        recall=name,
        version=version,
        state=state,
        rows=tuple(_readable(row, asked.times if asked else ()) for row in content.get("rows", [])),
        held_back=tuple(content.get("held_back", [])),
        asked_from=asked_from,
        archive_from=archive_from,
        covered_from=answer.covered_from,
        covered_to=answer.covered_to,
        chunks_done=answer.chunks_done,
        revision=answer.seq,
        made_at=answer.made_at,
        share=share,
    )


def _state(answer: Revision | None, pending: bool, age_us: int) -> str:
    if answer is not None and answer.complete:
        return "complete"
    if pending:
        return "asking"
    return "waiting" if answer is None and age_us < _PATIENCE_US else "stopped"


def _share(asked_from: int | None, archive_from: int | None, answer: Revision, at: int) -> float | None:
    """Of what can be answered: nothing lies before the archive's first row."""
    if answer.complete:
        return 1.0
    if asked_from is None or answer.covered_from is None:
        return None
    bottom = max(asked_from, archive_from) if archive_from is not None else asked_from
    return round(min(1.0, (at - answer.covered_from) / (at - bottom)), 4) if at > bottom else 1.0


def _readable(row: Mapping[str, Any], times: Sequence[str]) -> dict[str, Any]:
    return {name: iso(value) if name in times and isinstance(value, int) else value for name, value in row.items()}


def _archive_from(catalog: Catalog, stream: str) -> int | None:
    begun = [chunk.min_at for chunk in catalog.chunks(stream, ["open", "sealed"]) if chunk.min_at is not None]
    return min(begun, default=None)


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


def summary(answers: Sequence[Revision], pending: Mapping[str, int]) -> str:
    """How far an event's recalls are, in a word or two, for a list of events.

    >>> summary([], {}), summary([], {"a": 1})
    ('-', 'asking')
    """
    done = sum(answer.complete for answer in answers)
    names = {answer.recall for answer in answers} | set(pending)
    if not names:
        return "-"
    if done == len(names):
        return "complete"
    word = "asking" if pending else "stopped"
    return f"{word} {done}/{len(names)}" if answers else word
