"""What goes wrong, where, when and why: incidents with known causes.

Each day has its own incidents, drawn from the seed and the day and lying wholly inside the day, so they do not depend
on the span asked for. No server has two incidents at once, nor within ten minutes of each other: a five-minute window
never sees two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from moirae.errors import ConfigError
from moirae.simulator.rhythm import Habits
from moirae.simulator.seeds import generator
from moirae.simulator.signatures import KINDS, SIGNATURES
from moirae.simulator.spec import DAY, HOP, LATENESS, MINUTE, SECOND, WINDOW, Spec

_APART = 10 * MINUTE
_TRIES = 200
_CAUSES = {
    "rack_switch": ("failing switch", "switch firmware update", "loose uplink"),
    "rogue_process": ("cryptominer xmr-stak", "runaway kworkerd", "endless loop in perl"),
    "user_overload": ("course registration opens", "exam results published", "sale begins"),
    "bandwidth_flood": ("backup on the wrong network", "mirror gone wild", "denial of service"),
    "disk_filling": ("log not rotated", "core dumps", "failed clean-up job"),
}


@dataclass(frozen=True, slots=True)
class Incident:
    """[start_us, end_us) on `servers`; from `clear_from_us` on, the signature is at full strength."""

    id: str
    kind: str
    servers: tuple[str, ...]
    rack: str
    start_us: int
    clear_from_us: int
    end_us: int
    cause: str

    def overlaps(self, start_us: int, end_us: int) -> bool:
        return self.start_us < end_us and start_us < self.end_us

    def detectable(self, start_us: int, end_us: int) -> bool:
        """Whether a full window of it closes inside the span, lateness included: then a query over it must find it."""
        last = min(self.end_us, end_us - LATENESS - HOP)
        return last - max(self.clear_from_us, start_us) >= WINDOW + HOP

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def incidents(spec: Spec, habits: Habits | None = None) -> list[Incident]:
    """All incidents that touch the span, in order of their start, with their own whole times."""
    habits = habits or Habits.of(spec)
    usual = [incident for day in spec.days for incident in _of_day(spec, habits, day)]
    found = [*usual, *_promised(spec, habits, usual)]
    touching = [incident for incident in found if incident.overlaps(spec.start_us, spec.end_us)]
    return sorted(touching, key=lambda incident: (incident.start_us, incident.id))


def _of_day(spec: Spec, habits: Habits, day: int) -> list[Incident]:
    """The day's own incidents; one that finds no free server is left out."""
    draw = generator(spec.seed, "incidents", day)
    placed: list[Incident] = []
    for kind in KINDS:
        count = int(spec.incidents_per_day + draw.random())
        for number in range(count):
            room = (day * DAY + _APART // 2, (day + 1) * DAY - _APART // 2)
            wish = _Wish(kind, f"{kind}-{day}-{number}", room, (20 * MINUTE, 45 * MINUTE))
            incident = _place(draw, habits, placed, wish)
            placed.extend([incident] if incident else [])
    return placed


def _promised(spec: Spec, habits: Habits, usual: Sequence[Incident]) -> list[Incident]:
    """What `incidents_at_least` needs besides the usual ones, wholly inside the span and early enough to be found."""
    draw = generator(spec.seed, "promised", spec.start_us // SECOND, spec.end_us // SECOND)
    longest = min(30 * MINUTE, max(15 * MINUTE, spec.span_us // 4))
    room = (spec.start_us + MINUTE, spec.end_us - LATENESS - 2 * HOP)
    added: list[Incident] = []
    for kind in KINDS:
        seen = sum(i.kind == kind and i.detectable(spec.start_us, spec.end_us) for i in usual)
        for number in range(seen, spec.incidents_at_least):
            wish = _Wish(kind, f"{kind}-promised-{spec.start_us // SECOND}-{number}", room, (15 * MINUTE, longest))
            incident = _place(draw, habits, [*usual, *added], wish)
            if incident is None:
                problem = f"finds no free server for {kind} number {number + 1}"
                raise ConfigError("simulator", "incidents_at_least", problem, "add servers or lengthen the span")
            added.append(incident)
    return added


@dataclass(frozen=True, slots=True)
class _Wish:
    """An incident to be placed: wholly inside `room`, of a length inside `lasting`."""

    kind: str
    id: str
    room: tuple[int, int]
    lasting: tuple[int, int]

    def draw(self, draw: np.random.Generator) -> tuple[int, int]:
        """Start and end, in whole seconds of the room."""
        length = _seconds(draw, *self.lasting)
        start = self.room[0] + _seconds(draw, 0, self.room[1] - self.room[0] - length)
        return start, start + length


def _seconds(draw: np.random.Generator, low: int, high: int) -> int:
    return int(draw.integers(low // SECOND, high // SECOND, endpoint=True)) * SECOND


def _place(draw: np.random.Generator, habits: Habits, taken: Sequence[Incident], wish: _Wish) -> Incident | None:
    """A random server (or rack) and time, clear of all that is taken, if one is found."""
    for _ in range(_TRIES):
        start, end = wish.draw(draw)
        chosen = int(draw.integers(len(habits.names)))
        rack = habits.racks[chosen]
        servers = habits.rack_of(rack) if wish.kind == "rack_switch" else (habits.names[chosen],)
        if not _meets(taken, servers, start - _APART, end + _APART):
            causes = _CAUSES[wish.kind]
            clear = (start + end) // 2 if wish.kind == "disk_filling" else start
            return Incident(wish.id, wish.kind, servers, rack, start, clear, end, causes[draw.integers(len(causes))])
    return None


def _meets(taken: Iterable[Incident], servers: tuple[str, ...], start_us: int, end_us: int) -> bool:
    return any(other.overlaps(start_us, end_us) and not set(servers).isdisjoint(other.servers) for other in taken)


def by_stream(found: Iterable[Incident], stream: str) -> list[Incident]:
    """Those that change the rows of a stream; a failing switch takes traffic along with heartbeats."""
    also = {"traffic": {"rack_switch"}}.get(stream, set())
    return [i for i in found if SIGNATURES[i.kind].stream == stream or i.kind in also]
