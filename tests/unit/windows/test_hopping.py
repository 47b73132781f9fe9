"""M1, U2: where windows begin and end, which rows they hold, and what the kernel keeps of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from moirae.model.expr import Col
from moirae.model.query import Aggregate, Window
from moirae.model.schema import Type
from moirae.ports.kernel import END_OF_TIME, NO_WATERMARK, Output, Rows
from moirae.windows import HoppingAggregate
from moirae.windows.hopping import PaneState

VALUE = Col("value", Type.BIGINT)
CALLS = (
    Aggregate("n", "count", None, Type.BIGINT),
    Aggregate("total", "sum", VALUE, Type.BIGINT),
    Aggregate("kinds", "count_distinct", VALUE, Type.BIGINT),
)


def kernel(size: int, hop: int | None = None) -> HoppingAggregate:
    return HoppingAggregate(Window(size, hop or size), CALLS)


def rows(*times: int, keys: list[int] | None = None) -> Rows:
    """One row a time, whose value is its time."""
    at = np.array(times, np.int64)
    key = np.array(keys or [0] * len(times), np.int32)
    return Rows(key, at, np.arange(len(times)), pa.table({"value": pa.array(at)}))


def windows(output: Output) -> list[tuple[int, int, int]]:
    """(start, end, rows) of each."""
    starts = (output.columns[name].cast(pa.int64()).to_pylist() for name in ("window_start", "window_end"))
    return list(zip(*starts, output.columns["n"].to_pylist(), strict=True))


def all_windows(size: int, hop: int | None, *times: int) -> list[tuple[int, int, int]]:
    spec = kernel(size, hop)
    return windows(spec.advance(spec.start(), rows(*times), 1, END_OF_TIME)[1])


def test_a_row_on_an_edge_belongs_to_the_window_that_begins_there() -> None:
    """U2: windows are [start, end)."""
    assert all_windows(10, None, 0, 9, 10, 19, 20) == [(0, 10, 2), (10, 20, 2), (20, 30, 1)]


def test_windows_begin_at_multiples_of_the_hop_and_not_at_the_first_row() -> None:
    """U2: so every key and every run has the same windows."""
    assert all_windows(10, None, 17) == [(10, 20, 1)]


def test_a_hopping_window_holds_a_row_as_often_as_it_fits() -> None:
    """U2: size / hop times; on an edge it leaves one window and enters another."""
    assert all_windows(10, 5, 12) == [(5, 15, 1), (10, 20, 1)]
    assert all_windows(10, 5, 10) == [(5, 15, 1), (10, 20, 1)]
    assert all_windows(10, 5, 9, 10) == [(0, 10, 1), (5, 15, 2), (10, 20, 1)]


def test_a_hop_need_not_divide_the_size() -> None:
    """U2: a row is then in two windows of size 10 every 4, or in three."""
    assert all_windows(10, 4, 11) == [(4, 14, 1), (8, 18, 1)]
    assert all_windows(10, 4, 8) == [(0, 10, 1), (4, 14, 1), (8, 18, 1)]
    assert all_windows(7, 3, 6, 7) == [(0, 7, 1), (3, 10, 2), (6, 13, 2)]


def test_windows_before_1970_are_cut_the_same_way() -> None:
    """U2: division rounds down, not towards zero."""
    assert all_windows(10, None, -11, -10, -1, 0) == [(-20, -10, 1), (-10, 0, 2), (0, 10, 1)]
    assert all_windows(10, 4, -1) == [(-8, 2, 1), (-4, 6, 1)]


def test_the_window_around_the_epoch_begins_before_it() -> None:
    """U2: a hopping window may hold rows of both sides."""
    assert all_windows(10, 5, -1, 0) == [(-10, 0, 1), (-5, 5, 2), (0, 10, 1)]


def test_windows_without_rows_are_not_given_out() -> None:
    """M1: and a silent century costs no more than a silent second."""
    century = 100 * 365 * 86_400_000_000
    assert all_windows(10, 5, 0, century) == [
        (-5, 5, 1),
        (0, 10, 1),
        (century - 5, century + 5, 1),
        (century, century + 10, 1),
    ]


def test_the_event_of_a_window_happens_at_its_end() -> None:
    """M1: and is known by its start."""
    spec = kernel(10, 5)
    _, output = spec.advance(spec.start(), rows(7), 1, END_OF_TIME)
    assert output.at.tolist() == [10, 15]
    assert output.identity.tolist() == [0, 5]


def test_keys_have_windows_of_their_own() -> None:
    """M1: given out window by window, then by key."""
    spec = kernel(10)
    _, output = spec.advance(spec.start(), rows(1, 2, 3, 12, keys=[1, 0, 1, 1]), 2, END_OF_TIME)
    assert list(zip(output.key.tolist(), windows(output), strict=True)) == [
        (0, (0, 10, 1)),
        (1, (0, 10, 2)),
        (1, (10, 20, 1)),
    ]


def test_a_window_closes_when_the_watermark_reaches_its_end() -> None:
    """M1: one microsecond earlier it is still open; each closes once."""
    spec = kernel(10, 5)
    state, output = spec.advance(spec.start(), rows(7), 1, 9)
    assert windows(output) == []
    state, output = spec.advance(state, rows(), 1, 10)
    assert windows(output) == [(0, 10, 1)]
    state, output = spec.advance(state, rows(), 1, 14)
    assert windows(output) == []
    state, output = spec.advance(state, rows(), 1, 15)
    assert windows(output) == [(5, 15, 1)]
    assert windows(spec.advance(state, rows(), 1, END_OF_TIME)[1]) == []


def test_a_window_gathers_rows_over_many_calls() -> None:
    """M1: cutting the rows differently changes nothing."""
    spec = kernel(10)
    state = spec.start()
    for at in (1, 4, 4, 9):
        state, output = spec.advance(state, rows(at), 1, at)
        assert windows(output) == []
    _, output = spec.advance(state, rows(10), 1, 10)
    assert output.columns.to_pydict()["total"] == [18]
    assert output.columns.to_pydict()["kinds"] == [3]


def test_a_row_may_come_after_other_windows_of_its_time_have_closed() -> None:
    """M1: a key may wake up late; only windows still open count its row."""
    spec = kernel(10, 5)
    state, output = spec.advance(spec.start(), rows(2), 1, 6)
    assert windows(output) == [(-5, 5, 1)]
    _, output = spec.advance(state, rows(6), 1, END_OF_TIME)
    assert windows(output) == [(0, 10, 2), (5, 15, 1)]


def test_only_panes_an_open_window_reads_are_kept() -> None:
    """M1: a pane is gcd(size, hop) long; a row of time 1 is needed until the window [0, 10) is out."""
    spec = kernel(10, 5)
    assert (spec.pane_us, spec.panes_per_window, spec.panes_per_hop) == (5, 2, 1)
    state, _ = spec.advance(spec.start(), rows(1, 2, 6, 11), 1, 9)
    assert state.pane.tolist() == [0, 1, 2]
    state, _ = spec.advance(state, rows(), 1, 10)
    assert state.pane.tolist() == [1, 2]
    state, _ = spec.advance(state, rows(), 1, 20)
    assert state.pane.tolist() == []
    assert [len(kept.value) for kept in state.distinct] == [0]


def test_a_key_is_live_while_some_window_will_read_it() -> None:
    """M1: then the host may forget it."""
    spec = kernel(10)
    state, _ = spec.advance(spec.start(), rows(1, 11, keys=[0, 1]), 3, 10)
    assert spec.live_keys(state, 3).tolist() == [False, True, False]


def test_renumbered_keys_keep_their_windows() -> None:
    """M1: key 2 becomes key 0; its registers and its distinct values move along."""
    spec = kernel(10)
    state, _ = spec.advance(spec.start(), rows(1, 1, keys=[2, 2]), 3, 1)
    state = spec.rekey(state, np.array([-1, -1, 0], np.int32))
    _, output = spec.advance(state, rows(5, keys=[0]), 1, END_OF_TIME)
    assert output.key.tolist() == [0]
    assert [output.columns[name].to_pylist() for name in ("n", "total", "kinds")] == [[3], [7], [2]]


def tell(spec: HoppingAggregate, state: PaneState) -> list[Any]:
    _, output = spec.advance(state, rows(13, 14), 1, END_OF_TIME)
    found: list[Any] = output.columns.to_pylist()
    return found


@pytest.mark.parametrize("before", [[], [1], [1, 6, 6, 12]], ids=str)
def test_a_state_comes_back_from_its_table(before: list[int]) -> None:
    """M1: registers, distinct values and the watermark, so that nothing is given out twice."""
    spec = kernel(10, 5)
    state, _ = spec.advance(spec.start(), rows(*before), 1, 11)
    loaded = spec.load(spec.dump(state))
    assert loaded.watermark == 11
    assert tell(spec, loaded) == tell(spec, state)


def test_a_new_state_has_seen_no_watermark() -> None:
    """M1: so a replay of old rows is no replay of late ones."""
    spec = kernel(10)
    assert spec.load(spec.dump(spec.start())).watermark == NO_WATERMARK


def test_explain_says_what_a_key_costs() -> None:
    """P8: panes and registers; aggregates over one argument share theirs."""
    minute = 60_000_000
    spec = HoppingAggregate(Window(5 * minute, minute), CALLS)
    assert spec.explain() == "window 5 minutes hop 1 minute: 5 panes of 1 minute a key, 3 registers a pane"
