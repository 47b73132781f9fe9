"""A spec refuses what cannot be simulated, naming the key and the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from moirae.errors import ConfigError
from moirae.simulator import Intervals, Spec
from moirae.simulator.seeds import block_us, blocks
from moirae.simulator.spec import DAY, HOUR, MINUTE, SECOND

MONDAY = 20_640 * DAY


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("seed", {"seed": -1}),
        ("start_us", {"start_us": -1}),
        ("end_us", {"end_us": MONDAY}),
        ("racks", {"racks": 41}),
        ("racks", {"racks": 0}),
        ("servers", {"servers": 100_001}),
        ("late_rate", {"late_rate": 0.6}),
        ("malformed_rate", {"malformed_rate": -0.1}),
        ("late_by_us", {"late_by_us": 0}),
        ("incidents_per_day", {"incidents_per_day": 25}),
        ("incidents_at_least", {"incidents_at_least": -1}),
        ("incidents_at_least", {"incidents_at_least": 1, "end_us": MONDAY + 19 * MINUTE}),
        ("interval_us.heartbeats", {"interval_us": Intervals(heartbeats=5 * MINUTE)}),
        ("interval_us.logins", {"interval_us": Intervals(logins=SECOND)}),
        ("format", {"format": "xml"}),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(key: str, wrong: dict[str, Any]) -> None:
    """P8: a data centre to try queries on is described by one validated spec."""
    values: dict[str, Any] = {"seed": 1, "start_us": MONDAY, "end_us": MONDAY + DAY} | wrong
    with pytest.raises(ConfigError) as refused:
        Spec(**values)
    assert refused.value.key == key
    assert str(refused.value).startswith(f"simulator: {key}: ")


def test_a_block_is_a_day_unless_rows_are_dense() -> None:
    """P8: memory is bounded by the block, however dense the stream."""
    usual = Spec(seed=1, start_us=MONDAY + HOUR, end_us=MONDAY + DAY + HOUR)
    assert block_us(usual, "traffic") == DAY
    assert list(blocks(usual, "traffic")) == [(MONDAY, MONDAY + DAY), (MONDAY + DAY, MONDAY + 2 * DAY)]
    dense = Spec(seed=1, start_us=MONDAY, end_us=MONDAY + DAY, interval_us=Intervals(traffic=SECOND // 20))
    assert block_us(dense, "traffic") == 10 * MINUTE
    assert block_us(dense, "logins") == DAY


def test_many_servers_never_get_a_block_without_samples() -> None:
    """P8: each block holds at least two samples of every server."""
    wide = Spec(seed=1, start_us=MONDAY, end_us=MONDAY + DAY, servers=100_000)
    for stream in ("traffic", "processes", "heartbeats", "logins"):
        assert block_us(wide, stream) >= 2 * wide.interval_us.of(stream)
