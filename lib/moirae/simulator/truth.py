"""What was written, exactly: counts of each stream, the incidents and how they show. The yardstick of all tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from moirae.simulator.arrivals import Lines
from moirae.simulator.incidents import Incident
from moirae.simulator.lines import MALFORMED
from moirae.simulator.signatures import SIGNATURES
from moirae.simulator.world import World


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one stream. `late` are clean rows too, older than the newest clean row before them by more than a minute."""

    files: int = 0
    lines: int = 0
    clean: int = 0
    late: int = 0
    malformed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MALFORMED, 0))

    def plus(self, lines: Lines) -> Counts:
        """The counts after one more file."""
        tally = np.bincount(lines.kind + 1, minlength=len(MALFORMED) + 1).tolist()
        malformed = {kind: self.malformed[kind] + more for kind, more in zip(MALFORMED, tally[1:], strict=True)}
        clean, late = self.clean + tally[0], self.late + int(lines.late.sum())
        return Counts(self.files + 1, self.lines + len(lines), clean, late, malformed)


@dataclass(frozen=True, slots=True)
class Written:
    """What a run of the simulator left behind. `complete` is false for a live run that was stopped or still goes on."""

    truth: Path
    streams: dict[str, Counts]
    complete: bool = True

    @property
    def lines(self) -> int:
        return sum(counts.lines for counts in self.streams.values())

    @property
    def clean(self) -> int:
        return sum(counts.clean for counts in self.streams.values())

    def plus(self, stream: str, lines: Lines) -> Written:
        return replace(self, streams=self.streams | {stream: self.streams[stream].plus(lines)})


def truth_text(world: World, written: Written) -> str:
    """The truth file: the same for the same spec, byte for byte, whatever folder was written to."""
    truth = {
        "spec": world.spec.as_dict(),
        "complete": written.complete,
        "streams": {stream: asdict(counts) for stream, counts in written.streams.items()},
        "signatures": {
            kind: asdict(signature) | {"having": signature.having} for kind, signature in SIGNATURES.items()
        },
        "incidents": [_entry(world, incident) for incident in world.incidents],
    }
    return json.dumps(truth, indent=1) + "\n"


def _entry(world: World, incident: Incident) -> dict[str, Any]:
    spec = world.spec
    return incident.as_dict() | {"detectable": incident.detectable(spec.start_us, spec.end_us)}


def read_incidents(path: Path, *, detectable: bool = False) -> list[Incident]:
    """The incidents of a truth file; on demand only those that a query over the whole span must find."""
    return list(_incidents(json.loads(path.read_text(encoding="utf-8"))["incidents"], detectable))


def _incidents(entries: Iterable[dict[str, Any]], detectable: bool) -> Iterable[Incident]:
    for entry in entries:
        found = entry.pop("detectable")
        if found or not detectable:
            yield Incident(**entry | {"servers": tuple(entry["servers"])})
