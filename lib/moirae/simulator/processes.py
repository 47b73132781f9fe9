"""The busiest process of a server at each sample, its share of the CPU, and how full the disk is.

Normal: CPU at most 75; the disk rests at 25..60, fills by 8 in the course of a day and is cleaned at midnight.
rogue_process: one foreign process at 94..100. disk_filling: rises evenly to 97 in the first half, stays at 97..99.5.
"""

from __future__ import annotations

import numpy as np

from moirae.simulator.columns import Columns, gather
from moirae.simulator.incidents import Incident
from moirae.simulator.rhythm import activity, slots
from moirae.simulator.seeds import F64, I64, generator
from moirae.simulator.spec import DAY
from moirae.simulator.world import World

USUAL = ("postgres", "nginx", "java", "python", "kubelet", "sshd", "cron", "etl", "backup", "mail")
ROGUE = ("xmr-stak", "kworkerd", "perl")  # named by the causes of rogue_process
NAMES = USUAL + ROGUE
_AT_HOME = 4  # different processes on one server


def processes(world: World, start: int, end: int) -> Columns:
    habits = world.habits
    draw = generator(world.spec.seed, "processes", start)
    at = slots(draw, (start, end), world.spec.interval_us.processes, habits.phase)
    busy = activity(at, habits.peak_us)
    wobble = np.clip(draw.standard_normal(at.shape) * 4, -12, 12)
    cpu = np.clip(habits.base_cpu + habits.cpu_swing * busy + wobble, 0.5, 75)
    disk = habits.base_disk + 8 * (at % DAY) / DAY + np.clip(draw.standard_normal(at.shape) * 0.3, -1, 1)
    name = (world.who((at.shape[0], at.shape[1])) * 3 + draw.integers(_AT_HOME, size=at.shape)) % len(USUAL)
    luck = draw.random(at.shape)
    for incident, column, rows in world.hits("processes", at):
        if incident.kind == "rogue_process":
            cpu[rows, column] = 94 + 6 * luck[rows, column]
            name[rows, column] = len(USUAL) + next(n for n, rogue in enumerate(ROGUE) if rogue in incident.cause)
        else:
            disk[rows, column] = _filling(incident, at[rows, column], disk[rows, column], luck[rows, column])
    keep = np.ones(at.shape, dtype=np.bool_)
    return gather(at, keep, name=name, cpu=np.round(cpu, 2), disk=np.round(disk, 2))


def _filling(incident: Incident, at: I64, usual: F64, luck: F64) -> F64:
    share = np.minimum(1.0, (at - incident.start_us) / (incident.clear_from_us - incident.start_us))
    full: F64 = np.where(share < 1, usual + (97 - usual) * share, 97 + 2.5 * luck)
    return full
