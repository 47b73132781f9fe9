"""Clean rows: the schemas, the rhythm, and no seam wherever a span is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moirae.simulator import STREAMS, Incident, Intervals, Spec, incidents, servers_table, simulate_tables
from moirae.simulator.spec import DAY, HOUR, MINUTE, SECOND

MONDAY = 20_640 * DAY
SMALL = Spec(seed=5, start_us=MONDAY, end_us=MONDAY + 2 * DAY, servers=6, racks=2)


def test_every_stream_has_its_schema_and_is_in_order_of_time() -> None:
    """P8: tables as a query declares them."""
    for stream, table in simulate_tables(SMALL).items():
        at = table["at"].cast(pa.int64()).to_numpy()
        assert table.schema == STREAMS[stream].arrow
        assert (np.diff(at) >= 0).all()
        assert at[0] >= SMALL.start_us
        assert at[-1] < SMALL.end_us
        assert not any(column.null_count for column in table.columns)


@settings(max_examples=12, deadline=None)
@given(cut=st.integers(1, 2 * DAY - 1), seed=st.integers(0, 3))
def test_a_cut_span_gives_the_same_rows(cut: int, seed: int) -> None:
    """M11: history and live stretches join without a seam, wherever the cut falls."""
    whole = replace(SMALL, seed=seed)
    tables = simulate_tables(whole)
    before = simulate_tables(replace(whole, end_us=whole.start_us + cut))
    after = simulate_tables(replace(whole, start_us=whole.start_us + cut))
    for stream, table in tables.items():
        assert pa.concat_tables([before[stream], after[stream]]).equals(table)


def test_dense_blocks_join_without_a_seam_too() -> None:
    """M11: blocks shorter than a day change nothing about cuts."""
    dense = replace(SMALL, end_us=MONDAY + 40 * MINUTE, interval_us=Intervals(traffic=SECOND // 50))
    cut = MONDAY + 13 * MINUTE + 1
    before = simulate_tables(replace(dense, end_us=cut))["traffic"]
    after = simulate_tables(replace(dense, start_us=cut))["traffic"]
    whole = simulate_tables(dense)["traffic"]
    assert pa.concat_tables([before, after]).equals(whole)
    assert whole.num_rows == pytest.approx(6 * 40 * 60 * 50, rel=0.01)


def test_promised_incidents_change_nothing_but_their_own_rows() -> None:
    """M11: a live stretch with promised incidents is the same world as the history that was written before it."""
    plain = replace(SMALL, end_us=MONDAY + 2 * HOUR)
    live = replace(plain, incidents_at_least=1)
    promised = [incident for incident in incidents(live) if incident not in incidents(plain)]
    assert promised
    before, after = simulate_tables(plain), simulate_tables(live)
    for stream in STREAMS:
        assert not before[stream].equals(after[stream])
        assert _without(before[stream], promised).equals(_without(after[stream], promised))


def _without(table: pa.Table, found: list[Incident]) -> pa.Table:
    at, outside = table["at"].cast(pa.int64()), pa.scalar(True)
    for incident in found:
        time = pc.or_(pc.less(at, incident.start_us), pc.greater_equal(at, incident.end_us))
        elsewhere = pc.invert(pc.is_in(table["server"], pa.array(incident.servers)))
        outside = pc.and_(outside, pc.or_(time, elsewhere))
    return table.filter(outside)


def test_another_seed_gives_other_rows() -> None:
    """P8: the seed matters."""
    other = simulate_tables(replace(SMALL, seed=6))
    for stream, table in simulate_tables(SMALL).items():
        assert not table.equals(other[stream])


def test_seven_days_of_forty_servers_are_about_a_million_rows() -> None:
    """P8: the default sampling; traffic is densest."""
    tables = simulate_tables(Spec(seed=1, start_us=MONDAY, end_us=MONDAY + 7 * DAY))
    rows = {stream: table.num_rows for stream, table in tables.items()}
    assert sum(rows.values()) == pytest.approx(1_000_000, rel=0.05)
    assert max(rows, key=rows.__getitem__) == "traffic"


def test_days_are_busier_than_nights_and_weekends() -> None:
    """P8: daily rhythm and weekend dip."""
    calm = Spec(seed=2, start_us=MONDAY, end_us=MONDAY + 7 * DAY, servers=12, incidents_per_day=0)
    traffic = simulate_tables(calm)["traffic"]
    at, size = traffic["at"].cast(pa.int64()).to_numpy(), traffic["bytes"].to_numpy()
    hour, day = at % DAY // HOUR, (at - MONDAY) // DAY
    noon = (hour >= 11) & (hour < 16)
    night = hour < 4
    assert size[noon & (day < 5)].mean() > 1.3 * size[night].mean()
    assert size[noon & (day < 5)].mean() > 1.15 * size[noon & (day >= 5)].mean()


def test_servers_have_habits_of_their_own() -> None:
    """P8: base load differs between servers far more than by noise."""
    calm = Spec(seed=2, start_us=MONDAY, end_us=MONDAY + DAY, incidents_per_day=0)
    traffic = simulate_tables(calm)["traffic"]
    means = traffic.group_by("server").aggregate([("bytes", "mean")])["bytes_mean"].to_numpy()
    assert len(means) == 40
    assert means.max() > 4 * means.min()


def test_every_server_stands_in_a_rack() -> None:
    """P8: the static table covers all servers of the streams."""
    table = servers_table(SMALL)
    assert table.to_pydict()["server"] == ["s01", "s02", "s03", "s04", "s05", "s06"]
    assert table.to_pydict()["rack"] == ["r1", "r1", "r1", "r2", "r2", "r2"]
    assert set(table.to_pydict()["cpus"]) <= {8, 16, 32, 64}
