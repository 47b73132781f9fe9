"""The spec with what follows from it once: habits and incidents; and the frame in which a stream's block is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from moirae.simulator.incidents import Incident, by_stream, incidents
from moirae.simulator.rhythm import Habits
from moirae.simulator.seeds import I64, Mask
from moirae.simulator.spec import Spec


@dataclass(frozen=True, slots=True)
class World:
    spec: Spec
    habits: Habits
    incidents: tuple[Incident, ...]

    @classmethod
    def of(cls, spec: Spec) -> World:
        habits = Habits.of(spec)
        return cls(spec, habits, tuple(incidents(spec, habits)))

    def hits(self, stream: str, at: I64) -> Iterator[tuple[Incident, int, Mask]]:
        """Every incident in a block of shape (slots, servers), with each column it changes and the rows in it.

        Loops over incidents and their servers, never over rows.
        """
        columns = {name: column for column, name in enumerate(self.habits.names)}
        first, last = (int(at.min()), int(at.max())) if at.size else (0, 0)
        for incident in by_stream(self.incidents, stream):
            if incident.overlaps(first, last + 1):
                for server in incident.servers:
                    column = columns[server]
                    times = at[:, column]
                    yield incident, column, (times >= incident.start_us) & (times < incident.end_us)

    def who(self, shape: tuple[int, int]) -> I64:
        """The server's number for every cell of a block."""
        return np.broadcast_to(np.arange(shape[1]), shape)
