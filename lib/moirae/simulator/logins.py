"""Who logged in where, and whether the password was right.

Normal: at most one login a slot, six slots to the mean interval, so a window of five minutes never holds more than 31
for the shortest interval allowed (6 for the default). Each server has a dozen users of its own.
user_overload: a login every three seconds, each by another user: 100 in five minutes.
"""

from __future__ import annotations

import numpy as np

from moirae.simulator.columns import Columns, append, gather
from moirae.simulator.incidents import Incident
from moirae.simulator.rhythm import activity, slots
from moirae.simulator.seeds import generator
from moirae.simulator.spec import SECOND
from moirae.simulator.world import World

REGULARS = 240
STRANGERS = 600
USERS = tuple(f"u{number:04d}" for number in range(REGULARS + STRANGERS))
OUTCOMES = ("ok", "failed")
_SLOTS = 6
_AT_HOME = 12
_STEP = 3 * SECOND
_BUSY = 0.385  # mean of the rhythm over a week is about 0.41: this and the share below make one login in six slots
_QUIET = 0.01


def logins(world: World, start: int, end: int) -> Columns:
    habits = world.habits
    draw = generator(world.spec.seed, "logins", start)
    at = slots(draw, (start, end), world.spec.interval_us.logins // _SLOTS, habits.phase * 0, jitter=1.0)
    chance = np.minimum(0.9, habits.login_rate * (_QUIET + _BUSY * activity(at, habits.peak_us)))
    keep = draw.random(at.shape) < chance
    user = (world.who((at.shape[0], at.shape[1])) * 7 + draw.integers(_AT_HOME, size=at.shape)) % REGULARS
    outcome = (draw.random(at.shape) < 0.05).astype(np.int64)
    rows = gather(at, keep, user=user, outcome=outcome)
    crowds = [_crowd(world, incident, start, end) for incident in world.incidents if incident.kind == "user_overload"]
    return append(rows, [crowd for crowd in crowds if len(crowd["at"])])


def _crowd(world: World, incident: Incident, start: int, end: int) -> Columns:
    """The whole crowd is drawn from the incident's own name, then cut to the block."""
    draw = generator(world.spec.seed, incident.id)
    count = (incident.end_us - incident.start_us) // _STEP
    at = incident.start_us + np.arange(count) * _STEP + draw.integers(_STEP, size=count)
    user = REGULARS + (int(draw.integers(STRANGERS)) + np.arange(count)) % STRANGERS
    outcome = (draw.random(count) < 0.05).astype(np.int64)
    server = np.full(count, world.habits.names.index(incident.servers[0]))
    inside = (at >= start) & (at < end)
    return {"at": at[inside], "server": server[inside], "user": user[inside], "outcome": outcome[inside]}
