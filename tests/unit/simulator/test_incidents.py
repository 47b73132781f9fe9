"""Incidents: where they lie, and that the signature of each kind separates it from everything normal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from moirae.errors import ConfigError
from moirae.simulator import KINDS, SIGNATURES, Incident, Intervals, Spec, incidents, simulate_tables
from moirae.simulator.spec import DAY, HOP, HOUR, MINUTE, WINDOW

MONDAY = 20_640 * DAY


@dataclass(frozen=True)
class Value:
    server: str
    start_us: int
    value: float


def windows(table: pa.Table, function: str, column: str) -> Iterator[Value]:
    """The aggregate of every window of every server, as a hopping window query gives it; empty windows give none."""
    how = {"avg": "mean"}.get(function, function)
    target = "server" if column == "*" else column
    for offset in range(0, WINDOW, HOP):
        start = (table["at"].cast(pa.int64()).to_numpy() - offset) // WINDOW * WINDOW + offset
        grouped = table.append_column("start", pa.array(start)).group_by(["server", "start"])
        found = grouped.aggregate([(target, how)])
        columns = (found[name].to_pylist() for name in ("server", "start", f"{target}_{how}"))
        yield from map(Value, *columns)


def touching(found: list[Incident], value: Value) -> list[Incident]:
    end = value.start_us + WINDOW
    return [i for i in found if value.server in i.servers and i.overlaps(value.start_us, end)]


def check_separation(spec: Spec) -> None:
    found, tables = incidents(spec), simulate_tables(spec)
    for kind, signature in SIGNATURES.items():
        mine = [i for i in found if i.kind == kind]
        caught, normal, full = set(), 0.0, np.inf
        for value in windows(tables[signature.stream], signature.function, signature.column):
            here = touching(mine, value)
            caught |= {(i.id, value.server) for i in here if value.value > signature.threshold}
            normal = normal if here else max(normal, value.value)
            if any(i.clear_from_us <= value.start_us and value.start_us + WINDOW <= i.end_us for i in here):
                full = min(full, value.value)
        assert normal <= signature.normal < signature.threshold < signature.full <= full, kind
        wanted = {(i.id, server) for i in mine if i.detectable(spec.start_us, spec.end_us) for server in i.servers}
        assert wanted, kind
        assert wanted <= caught, kind


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_window_query_finds_every_incident_and_nothing_else(seed: int) -> None:
    """M1: the largest normal value lies below the threshold, the smallest of a full window of an incident above it."""
    start = MONDAY + seed * DAY
    check_separation(Spec(seed=seed, start_us=start, end_us=start + 2 * DAY, servers=20))


def test_signatures_hold_for_other_samplings() -> None:
    """M1: the thresholds hold for every valid spec, at the bounds of the intervals too."""
    sparse = Intervals(traffic=4 * MINUTE, logins=HOUR, processes=4 * MINUTE, heartbeats=2 * MINUTE)
    dense = Intervals(traffic=15_000_000, logins=MINUTE, processes=30_000_000, heartbeats=10_000_000)
    for interval in (sparse, dense):
        check_separation(Spec(seed=9, start_us=MONDAY, end_us=MONDAY + DAY, servers=8, racks=2, interval_us=interval))


def test_distinct_users_tell_an_overload_as_well_as_logins() -> None:
    """M1: count(DISTINCT user) serves for the same threshold."""
    spec = Spec(seed=4, start_us=MONDAY, end_us=MONDAY + DAY, servers=8, racks=2)
    overloads = [i for i in incidents(spec) if i.kind == "user_overload"]
    hit = [value for value in windows(simulate_tables(spec)["logins"], "count_distinct", "user") if value.value > 50]
    assert hit
    assert all(touching(overloads, value) for value in hit)


def test_a_failing_switch_takes_heartbeats_and_traffic_of_the_whole_rack() -> None:
    """M3: one cause, seen on every server of the rack."""
    spec = Spec(seed=4, start_us=MONDAY, end_us=MONDAY + 3 * DAY, servers=8, racks=2)
    switch = next(i for i in incidents(spec) if i.kind == "rack_switch")
    assert len(switch.servers) == 4
    calm = simulate_tables(replace(spec, incidents_per_day=0))
    for stream, lost in (("heartbeats", 0.7), ("traffic", 0.4)):
        seen, usual = (_during(tables[stream], switch) for tables in (simulate_tables(spec), calm))
        assert seen.num_rows < lost * usual.num_rows
        assert set(seen["server"].to_pylist()) == set(switch.servers)


def _during(table: pa.Table, incident: Incident) -> pa.Table:
    at = table["at"].cast(pa.int64())
    inside = pc.and_(pc.greater_equal(at, incident.start_us), pc.less(at, incident.end_us))
    return table.filter(pc.and_(inside, pc.is_in(table["server"], pa.array(incident.servers))))


def test_a_rogue_process_bears_the_name_its_cause_gives() -> None:
    """M3: the context of the incident leads to its cause."""
    spec = Spec(seed=4, start_us=MONDAY, end_us=MONDAY + 3 * DAY, servers=8, racks=2)
    for rogue in (i for i in incidents(spec) if i.kind == "rogue_process"):
        (name,) = set(_during(simulate_tables(spec)["processes"], rogue)["name"].to_pylist())
        assert name in rogue.cause


def test_about_one_incident_of_each_kind_a_day() -> None:
    """P8: incidents are spread over the whole span at the set rate."""
    found = incidents(Spec(seed=3, start_us=MONDAY, end_us=MONDAY + 30 * DAY))
    for kind in KINDS:
        days = {i.start_us // DAY for i in found if i.kind == kind}
        assert len(days) >= 28
    half = incidents(Spec(seed=3, start_us=MONDAY, end_us=MONDAY + 30 * DAY, incidents_per_day=0.5))
    assert 0.3 * len(found) < len(half) < 0.7 * len(found)


@pytest.mark.parametrize("per_day", [1.0, 6.0])
def test_no_server_has_two_incidents_at_once(per_day: float) -> None:
    """P8: no window sees two incidents of one server."""
    found = incidents(Spec(seed=3, start_us=MONDAY, end_us=MONDAY + 5 * DAY, servers=10, incidents_per_day=per_day))
    for one, other in combinations(found, 2):
        near = one.overlaps(other.start_us - 2 * WINDOW + 1, other.end_us + 2 * WINDOW - 1)
        assert not (near and set(one.servers) & set(other.servers))


@pytest.mark.parametrize("minutes", [20, 30, 60, 180, 1440])
@pytest.mark.parametrize("at_least", [1, 2])
def test_a_live_stretch_shows_as_many_of_each_kind_as_promised(minutes: int, at_least: int) -> None:
    """P8: a stretch of any length from 20 minutes, day borders included."""
    for seed in range(5):
        start = MONDAY + DAY - 10 * MINUTE
        spec = Spec(seed=seed, start_us=start, end_us=start + minutes * MINUTE, incidents_at_least=at_least)
        found = [i.kind for i in incidents(spec) if i.detectable(spec.start_us, spec.end_us)]
        assert all(found.count(kind) >= at_least for kind in KINDS)


def test_promised_incidents_are_found_by_their_queries() -> None:
    """M1: also in the shortest stretch allowed, and with nothing else going on."""
    start = MONDAY + 9 * HOUR
    check_separation(
        Spec(seed=1, start_us=start, end_us=start + 20 * MINUTE, incidents_per_day=0, incidents_at_least=1)
    )


def test_a_promise_that_does_not_fit_is_refused_with_a_remedy() -> None:
    """P8: too few servers for what was promised."""
    spec = Spec(seed=1, start_us=MONDAY, end_us=MONDAY + HOUR, servers=2, racks=1, incidents_at_least=1)
    with pytest.raises(ConfigError, match="add servers or lengthen the span"):
        incidents(spec)
