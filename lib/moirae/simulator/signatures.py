"""How each kind of incident shows: the window query that finds it, with a threshold that normal rows never reach.

All are over five-minute windows that hop by a minute, per server:

| kind            | stream     | aggregate   | normal at most | threshold | full window of the incident |
|-----------------|------------|-------------|----------------|-----------|-----------------------------|
| bandwidth_flood | traffic    | avg(bytes)  | 800 000        | 1 000 000 | 2 000 000 and more          |
| user_overload   | logins     | count(*)    | 31             | 50        | 98 and more                 |
| rogue_process   | processes  | avg(cpu)    | 75             | 85        | 94 and more                 |
| disk_filling    | processes  | max(disk)   | 70             | 95        | 97 and more                 |
| rack_switch     | heartbeats | avg(rtt_ms) | 10             | 40        | 80 and more                 |

`count(DISTINCT user)` serves for user_overload as well, `max` for `avg` everywhere. The figures hold for every valid
spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Signature:
    """`having` is the condition of the window query; `normal` and `full` bound the aggregate outside and inside."""

    stream: str
    function: str
    column: str
    threshold: float
    normal: float
    full: float

    @property
    def having(self) -> str:
        """
        >>> SIGNATURES["bandwidth_flood"].having
        'avg(bytes) > 1000000'
        """
        return f"{self.function}({self.column}) > {self.threshold:g}".replace("1e+06", "1000000")


SIGNATURES: Mapping[str, Signature] = MappingProxyType(
    {
        "rack_switch": Signature("heartbeats", "avg", "rtt_ms", 40, 10, 80),
        "rogue_process": Signature("processes", "avg", "cpu", 85, 75, 94),
        "user_overload": Signature("logins", "count", "*", 50, 31, 98),
        "bandwidth_flood": Signature("traffic", "avg", "bytes", 1_000_000, 800_000, 2_000_000),
        "disk_filling": Signature("processes", "max", "disk", 95, 70, 97),
    }
)
KINDS = tuple(SIGNATURES)
