"""Bytes a server moved since its last report.

Normal: base 20 000..200 000, doubled at most by the rhythm, times noise of at most 2: never above 800 000.
bandwidth_flood: 2 to 5 million. rack_switch: four rows of five are lost, the rest shrinks to a tenth.
"""

from __future__ import annotations

import numpy as np

from moirae.simulator.columns import Columns, gather
from moirae.simulator.rhythm import activity, noise, slots
from moirae.simulator.seeds import generator
from moirae.simulator.world import World


def traffic(world: World, start: int, end: int) -> Columns:
    habits = world.habits
    draw = generator(world.spec.seed, "traffic", start)
    at = slots(draw, (start, end), world.spec.interval_us.traffic, habits.phase)
    usual = habits.base_bytes * (1 + habits.bytes_swing * activity(at, habits.peak_us))
    size = usual * noise(draw, (at.shape[0], at.shape[1]), habits.bytes_noise, 0.4, 2.0)
    luck = draw.random(at.shape)
    keep = np.ones(at.shape, dtype=np.bool_)
    for incident, column, rows in world.hits("traffic", at):
        if incident.kind == "bandwidth_flood":
            size[rows, column] = 2e6 + 3e6 * luck[rows, column]
        else:
            size[rows, column] *= 0.1
            keep[rows, column] = luck[rows, column] < 0.2
    return gather(at, keep, bytes=size.astype(np.int64))
