"""Round trip to a server in milliseconds.

Normal: base 0.3..2.0, half as much again at the peak, times noise of at most 3: below 10.
rack_switch: 80 to 250 for every server of the rack, and nine of ten of every other heartbeat are lost; the ones between
always come through, so each window still holds a row to be seen.
"""

from __future__ import annotations

import numpy as np

from moirae.simulator.columns import Columns, gather
from moirae.simulator.rhythm import activity, noise, slots
from moirae.simulator.seeds import generator
from moirae.simulator.world import World


def heartbeats(world: World, start: int, end: int) -> Columns:
    habits = world.habits
    draw = generator(world.spec.seed, "heartbeats", start)
    at = slots(draw, (start, end), world.spec.interval_us.heartbeats, habits.phase)
    usual = habits.base_rtt * (1 + 0.5 * activity(at, habits.peak_us))
    rtt = usual * noise(draw, (at.shape[0], at.shape[1]), 0.3, 0.5, 3.0)
    luck = draw.random(at.shape)
    keep = np.ones(at.shape, dtype=np.bool_)
    odd = np.arange(at.shape[0]) % 2 == 1
    for _, column, rows in world.hits("heartbeats", at):
        rtt[rows, column] = 80 + 170 * luck[rows, column]
        keep[rows & odd, column] = luck[rows & odd, column] < 0.1
    return gather(at, keep, rtt_ms=np.round(rtt, 3))
