"""What the platform found, held against what the simulator knows to be true."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moirae.ports.catalog import Counts, LiveEvent
from moirae.simulator import Incident, Written

WINDOW_US = 300_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One figure: what was expected, what was found."""

    name: str
    expected: str
    found: str

    @property
    def right(self) -> bool:
        return self.expected == self.found


def compare_rows(written: Sequence[Written], totals: Mapping[str, Counts]) -> list[Line]:
    """Every line written is archived, late or quarantined, each exactly as often as the simulator made it so."""
    lines = []
    for stream in written[0].streams:
        truth = [part.streams[stream] for part in written]
        malformed = sum(sum(counts.malformed.values()) for counts in truth)
        late = sum(counts.late for counts in truth)
        clean = sum(counts.clean for counts in truth)
        expected = Counts(clean + malformed, clean - late, late, malformed)
        lines.append(Line(stream, _said(expected), _said(totals.get(stream, Counts()))))
    return lines


def _said(counts: Counts) -> str:
    return f"{counts.archived} archived, {counts.late} late, {counts.quarantined} quarantined"


@dataclass(frozen=True, slots=True)
class Found:
    """Of one kind of incident: how many there were, how many were found, and events no incident explains."""

    kind: str
    incidents: int
    found: int
    events: int
    unexplained: int

    @property
    def right(self) -> bool:
        return self.found == self.incidents and self.unexplained == 0


def compare_events(
    must_find: Sequence[Incident], all_incidents: Sequence[Incident], events: Sequence[LiveEvent]
) -> list[Found]:
    """An incident is found if each of its servers has an event of its kind whose window overlaps it."""
    seen: dict[str, list[tuple[str, int]]] = {}
    for event in events:
        seen.setdefault(event.query, []).append((json.loads(event.columns)["server"], event.at))
    results = []
    for kind in sorted({incident.kind for incident in all_incidents}):
        of_kind = [incident for incident in all_incidents if incident.kind == kind]
        wanted = [incident for incident in must_find if incident.kind == kind]
        hits = sum(
            all(_shown(incident, server, seen.get(kind, [])) for server in incident.servers) for incident in wanted
        )
        stray = sum(not any(_explains(i, server, at) for i in of_kind) for server, at in seen.get(kind, []))
        results.append(Found(kind, len(wanted), hits, len(seen.get(kind, [])), stray))
    return results


def _shown(incident: Incident, server: str, events: Sequence[tuple[str, int]]) -> bool:
    return any(where == server and _explains(incident, server, at) for where, at in events)


def _explains(incident: Incident, server: str, at: int) -> bool:
    return server in incident.servers and incident.overlaps(at - WINDOW_US, at)
