"""Which rows come late and which are followed by a malformed line.

A late row arrives up to `late_by_us` after its time; a malformed line is an extra, spoilt copy that arrives right
behind its original. So the clean rows are complete whatever the rates are, and can be counted on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from moirae.simulator.columns import Columns, trim
from moirae.simulator.lines import MALFORMED
from moirae.simulator.seeds import I64, Mask, generator
from moirae.simulator.spec import Spec


def with_faults(spec: Spec, stream: str, start: int, rows: Columns) -> Columns:
    """The rows of a whole block that fall in the span, with `arrival` and `spoilt`.

    `spoilt` is -1, or the number of the malformed kind that follows. Nothing arrives after the span: what would,
    comes last.
    """
    draw, count = generator(spec.seed, "faults", stream, start), len(rows["at"])
    delay = np.where(draw.random(count) < spec.late_rate, draw.integers(1, spec.late_by_us, count, endpoint=True), 0)
    spoilt = np.where(draw.random(count) < spec.malformed_rate, draw.integers(len(MALFORMED), size=count), -1)
    inside = trim(rows | {"delay": delay, "spoilt": spoilt}, spec.start_us, spec.end_us)
    late = inside.pop("delay")
    return inside | {"arrival": np.minimum(inside["at"] + late, spec.end_us - 1)}


@dataclass(frozen=True, slots=True)
class Lateness:
    """Judges rows in order of arrival: late iff older than the newest row before it by more than the lateness.

    >>> judge = Lateness(60)
    >>> judge.late(np.array([100, 200, 139, 140, 141]))[0].tolist()
    [False, False, True, False, False]
    """

    lateness_us: int
    newest_us: int = -(1 << 62)

    def late(self, at: I64) -> tuple[Mask, Lateness]:
        """One flag for each row, and the judge of the rows that follow. Malformed lines must be left out."""
        newest = np.maximum.accumulate(np.concatenate([[self.newest_us], at]))
        return at < newest[:-1] - self.lateness_us, Lateness(self.lateness_us, int(newest[-1]))
