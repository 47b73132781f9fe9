"""How far history has answered an event, as one value: for JSON, for the screen, and to know when to stop looking.

What its states mean is told in `asking`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from moirae.cli.asking import OPEN, Asked, Pending, expected_recalls, state_of
from moirae.cli.times import iso
from moirae.cli.values import event_fields

if TYPE_CHECKING:
    from moirae.ports.catalog import Catalog, LiveEvent, Revision


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
        return {**event_fields(self.event), "recalls": [recall.fields() for recall in self.recalls]}


def find_answer(catalog: Catalog, event: LiveEvent, asked: Mapping[str, Asked], now: int) -> Answered:
    """All recalls of an event: those that answered, those under way, and those it can still expect."""
    pending = Pending.of(catalog)  # before the answers: a task that ends in between has its last answer by then
    answers = {revision.recall: revision for revision in catalog.latest_answers(event.eid)}
    known = expected_recalls(catalog.active(), event) | dict(pending.of_event(event.eid))
    known |= {name: answer.recall_version for name, answer in answers.items()}
    recalls = []
    for name, version in sorted(known.items()):
        answer = answers.get(name)
        state = state_of(answer, pending.may_hold(event, name), now - event.seen_at)
        asking = _interval(Recalled(name, version, state), event, asked.get(name), catalog)
        recalls.append(asking if answer is None else _answered(asking, answer, asked.get(name)))
    return Answered(event, tuple(recalls))


def _interval(recall: Recalled, event: LiveEvent, asked: Asked | None, catalog: Catalog) -> Recalled:
    """With what is asked for; nothing is known of a recall that is no longer deployed."""
    if asked is None:
        return recall
    archive_from = _archive_from(catalog, asked.stream)
    asked_from = archive_from if asked.over_us is None else event.at - asked.over_us
    return replace(recall, asked_from=asked_from, archive_from=archive_from)


def _answered(recall: Recalled, answer: Revision, asked: Asked | None) -> Recalled:
    content = json.loads(answer.answer)
    times = asked.times if asked else ()
    return replace(
        recall,
        rows=tuple(_readable(row, times) for row in content.get("rows", [])),
        held_back=tuple(content.get("held_back", [])),
        covered_from=answer.covered_from,
        covered_to=answer.covered_to,
        chunks_done=answer.chunks_done,
        revision=answer.seq,
        made_at=answer.made_at,
        share=_share(recall, answer),
    )


def _share(recall: Recalled, answer: Revision) -> float | None:
    """Of what can be answered: nothing lies before the archive's first row."""
    if answer.complete:
        return 1.0
    if recall.asked_from is None or answer.covered_from is None:
        return None
    at, first = answer.event_at, recall.archive_from
    bottom = recall.asked_from if first is None else max(recall.asked_from, first)
    return round(min(1.0, (at - answer.covered_from) / (at - bottom)), 4) if at > bottom else 1.0


def _readable(row: Mapping[str, Any], times: Sequence[str]) -> dict[str, Any]:
    return {name: iso(value) if name in times and isinstance(value, int) else value for name, value in row.items()}


def _archive_from(catalog: Catalog, stream: str) -> int | None:
    begun = [chunk.min_at for chunk in catalog.chunks(stream, ["open", "sealed"]) if chunk.min_at is not None]
    return min(begun, default=None)
