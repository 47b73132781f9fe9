"""What to simulate: one frozen spec that refuses what cannot be simulated.

Everything the simulator makes is a function of the spec alone. Rows depend on the seed, the number of servers and racks
and the sampling, never on where the span begins or ends, so a span may be cut anywhere and the pieces join without a
seam.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from moirae.errors import ConfigError
from moirae.model.schema import Schema, Type

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

WINDOW = 5 * MINUTE  # the window and hop that incidents are made visible for
HOP = MINUTE
LATENESS = MINUTE  # what the streams of the data centre declare
SHORTEST_STRETCH = 20 * MINUTE  # in less, an incident cannot be promised: a full window of it must close in time

STREAMS: Mapping[str, Schema] = MappingProxyType(
    {
        "traffic": Schema.of(at=Type.TIMESTAMP, server=Type.STRING, bytes=Type.BIGINT),
        "logins": Schema.of(at=Type.TIMESTAMP, server=Type.STRING, user=Type.STRING, outcome=Type.STRING),
        "processes": Schema.of(
            at=Type.TIMESTAMP, server=Type.STRING, name=Type.STRING, cpu=Type.DOUBLE, disk=Type.DOUBLE
        ),
        "heartbeats": Schema.of(at=Type.TIMESTAMP, server=Type.STRING, rtt_ms=Type.DOUBLE),
    }
)
SERVERS = Schema.of(server=Type.STRING, rack=Type.STRING, cpus=Type.INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Time between two rows of one server in each stream; for logins the mean over a working day.

    The defaults give about a million rows for 40 servers and 7 days.
    """

    traffic: int = 45 * SECOND
    logins: int = 6 * MINUTE
    processes: int = 4 * MINUTE
    heartbeats: int = 80 * SECOND

    def of(self, stream: str) -> int:
        return int(getattr(self, stream))


# Shortest and longest interval of a stream. Longest: every five-minute window of a server holds a row, even when a
# failing switch loses every other heartbeat. Shortest for logins: a busy server stays far below an overload's count.
_BOUNDS = {
    "traffic": (SECOND // 1000, 4 * MINUTE),
    "logins": (MINUTE, DAY),
    "processes": (SECOND // 1000, 4 * MINUTE),
    "heartbeats": (SECOND // 1000, 2 * MINUTE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A data centre over [start_us, end_us). Rates are shares of the clean rows; `incidents_per_day` is for each kind.

    `incidents_at_least` adds incidents inside the span until it shows that many of each kind; it is meant for short
    live stretches and leaves rows outside the span as they are.
    """

    seed: int
    start_us: int
    end_us: int
    servers: int = 40
    racks: int = 4
    interval_us: Intervals = field(default_factory=Intervals)
    late_rate: float = 0.01
    late_by_us: int = 2 * MINUTE
    malformed_rate: float = 0.001
    incidents_per_day: float = 1.0
    incidents_at_least: int = 0
    format: str = "jsonl"

    def __post_init__(self) -> None:
        self._check_span()
        self._check_size()
        self._check_rates()

    def _check_span(self) -> None:
        _want(self.seed >= 0, "seed", f"must not be negative, but is {self.seed}", "give a number from 0 up")
        _want(self.start_us >= 0, "start_us", "lies before 1970", "begin later")
        _want(self.end_us > self.start_us, "end_us", "does not lie after start_us", "give a span that is not empty")
        short = self.incidents_at_least > 0 and self.span_us < SHORTEST_STRETCH
        _want(
            not short, "incidents_at_least", "needs a span of 20 minutes", "lengthen the span or promise no incidents"
        )

    def _check_size(self) -> None:
        _want(1 <= self.racks <= self.servers, "racks", f"must lie in 1..{self.servers}", "have a server in every rack")
        _want(self.servers <= 100_000, "servers", f"is {self.servers}", "simulate at most 100000 servers")
        for stream, (low, high) in _BOUNDS.items():
            inside = low <= self.interval_us.of(stream) <= high
            _want(inside, f"interval_us.{stream}", f"must lie in {low}..{high} microseconds", "choose one of these")
        known = self.format in ("jsonl", "csv")
        _want(known, "format", f"is '{self.format}'", "write 'jsonl' or 'csv'")

    def _check_rates(self) -> None:
        for key in ("late_rate", "malformed_rate"):
            _want(0 <= getattr(self, key) <= 0.5, key, "must lie in 0..0.5", "give a share of the rows, such as 0.01")
        _want(self.late_by_us >= SECOND, "late_by_us", "must be at least a second", "use late_rate=0 for no late rows")
        _want(0 <= self.incidents_per_day <= 24, "incidents_per_day", "must lie in 0..24", "have fewer incidents")
        _want(self.incidents_at_least >= 0, "incidents_at_least", "must not be negative", "use 0 for no promise")

    @property
    def span_us(self) -> int:
        return self.end_us - self.start_us

    @property
    def days(self) -> range:
        """Days since 1970 that the span touches."""
        return range(self.start_us // DAY, -(-self.end_us // DAY))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _want(holds: bool, key: str, problem: str, remedy: str) -> None:
    if not holds:
        raise ConfigError("simulator", key, problem, remedy)
