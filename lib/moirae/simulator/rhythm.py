"""Who the servers are and when they are busy: fixed habits per server, one daily rhythm, quieter weekends.

Habits are bounded, and so is the noise laid over them: no normal row ever reaches the threshold of an incident
(signatures.py), by construction and not by luck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from moirae.simulator.seeds import F64, I64, generator
from moirae.simulator.spec import DAY, HOUR, Spec

_THURSDAY = 3  # 1970-01-01, counting from Monday
_WEEKEND = 0.4  # of a working day's activity


@dataclass(frozen=True, slots=True)
class Habits:
    """One value a server in every array."""

    names: tuple[str, ...]
    racks: tuple[str, ...]
    cpus: I64
    peak_us: I64  # time of day of most activity
    phase: F64  # where in a sampling slot the server reports, 0..0.8
    base_bytes: F64
    bytes_swing: F64
    bytes_noise: F64
    login_rate: F64
    base_cpu: F64
    cpu_swing: F64
    base_disk: F64
    base_rtt: F64

    @classmethod
    def of(cls, spec: Spec) -> Habits:
        draw, n = generator(spec.seed, "habits"), spec.servers
        width, rack_width = max(2, len(str(n))), len(str(spec.racks))
        return cls(
            names=tuple(f"s{i + 1:0{width}d}" for i in range(n)),
            racks=tuple(f"r{i * spec.racks // n + 1:0{rack_width}d}" for i in range(n)),
            cpus=draw.choice(np.array([8, 16, 32, 64]), n),
            peak_us=(draw.uniform(9, 18, n) * HOUR).astype(np.int64),
            phase=draw.uniform(0, 0.8, n),
            base_bytes=20_000 * 10 ** draw.uniform(0, 1, n),
            bytes_swing=draw.uniform(0.3, 1.0, n),
            bytes_noise=draw.uniform(0.05, 0.3, n),
            login_rate=draw.uniform(0.5, 1.5, n),
            base_cpu=draw.uniform(8, 35, n),
            cpu_swing=draw.uniform(5, 20, n),
            base_disk=draw.uniform(25, 60, n),
            base_rtt=draw.uniform(0.3, 2.0, n),
        )

    def rack_of(self, rack: str) -> tuple[str, ...]:
        return tuple(name for name, home in zip(self.names, self.racks, strict=True) if home == rack)


def activity(at: I64, peak_us: I64) -> F64:
    """How busy, from 0 at night to 1 at the peak of a working day.

    >>> monday = 4 * DAY
    >>> peak = np.array([12 * HOUR])
    >>> [round(float(activity(np.array([monday + h * HOUR]), peak)[0]), 2) for h in (0, 6, 12)]
    [0.0, 0.5, 1.0]
    >>> round(float(activity(np.array([monday + 5 * DAY + 12 * HOUR]), peak)[0]), 2)
    0.4
    """
    wave = 0.5 + 0.5 * np.cos((at % DAY - peak_us) * (2 * np.pi / DAY))
    weekend = (at // DAY + _THURSDAY) % 7 >= 5
    busy: F64 = wave * np.where(weekend, _WEEKEND, 1.0)
    return busy


def noise(draw: np.random.Generator, shape: tuple[int, int], spread: F64 | float, low: float, high: float) -> F64:
    """Factors around 1, log-normal, held inside [low, high]."""
    factors: F64 = np.clip(np.exp(draw.standard_normal(shape) * spread), low, high)
    return factors


def slots(draw: np.random.Generator, block: tuple[int, int], interval: int, phase: F64, *, jitter: float = 0.2) -> I64:
    """Times of one row a slot and server, shape (slots, servers), all inside [start, end).

    Two rows of a server are never more than 1.2 slots apart, across blocks too.
    """
    start, end = block
    count = max(1, round((end - start) / interval))
    shares = np.arange(count)[:, None] + phase[None, :] + jitter * draw.random((count, len(phase)))
    times: I64 = start + (shares * ((end - start) / count)).astype(np.int64)
    return times
