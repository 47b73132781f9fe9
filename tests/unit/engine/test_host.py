"""M1: what the host does with rows before and after queries see them. Times are seconds, windows ten of them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest

from moirae.engine.host import BucketHost, BucketState, sort_events
from moirae.errors import MoiraeError
from moirae.lang import bind
from moirae.model.schema import Type
from moirae.plan import plan_program
from moirae.ports.kernel import END_OF_TIME, NO_WATERMARK
from moirae.testing import plain_rows

SECOND = 1_000_000
STREAM = "CREATE STREAM s (at TIMESTAMP, server STRING, load DOUBLE, bytes BIGINT) ORDER BY at FROM LANDING 's';"
TOTAL = """CREATE EVENT total AS SELECT server, sum(load) AS total, count(*) AS n, window.start AS began
           FROM s GROUP BY server, window(at, '10 seconds');"""
LOUD = "CREATE EVENT loud AS SELECT server, load FROM s WHERE load > 100;"

Row = tuple[int, str | None, float | None]


def host_of(*queries: str, versions: dict[str, int] | None = None) -> BucketHost:
    [operator] = plan_program(bind(STREAM + "".join(queries)), versions).operators
    return BucketHost(operator)


def table(host: BucketHost, rows: list[Row], first: int = 0) -> pa.Table:
    """Rows in order of arrival; the position of the first one is `first`."""
    columns = {
        "at": pa.array([at * SECOND for at, _, _ in rows], Type.TIMESTAMP.arrow),
        "server": pa.array([server for _, server, _ in rows], pa.string()),
        "load": pa.array([load for _, _, load in rows], pa.float64()),
        "bytes": pa.array([7] * len(rows), pa.int64()),
        "_pos": pa.array(range(first, first + len(rows)), pa.int64()),
    }
    return pa.table({name: columns[name] for name in host.schema.names})


def advance(
    host: BucketHost, state: BucketState, rows: list[Row], watermark: int, query: str = "total"
) -> tuple[BucketState, list[list[Any]]]:
    """The query's own columns of what was found; the watermark is in seconds too."""
    state, events = host.advance(state, table(host, rows), watermark * SECOND)
    return state, plain_rows(sort_events(events[query]).drop_columns(["eid", "at"]))


def test_a_window_is_given_out_when_the_watermark_reaches_its_end() -> None:
    """M1: not a moment earlier, once, and only if it has rows."""
    host = host_of(TOTAL)
    state, found = advance(host, host.start(), [(3, "a", 1.0), (9, "a", 2.0)], 9)
    assert found == []
    state, found = advance(host, state, [], 10)
    assert found == [["a", 3.0, 2, 0]]
    for watermark in (10, 11, 1000):
        state, found = advance(host, state, [], watermark)
        assert found == []


def test_rows_wait_until_the_watermark_has_passed_them() -> None:
    """M1: a row at the watermark waits too, since others of its time may still come."""
    host = host_of(TOTAL)
    state, _ = host.advance(host.start(), table(host, [(3, "a", 1.0), (5, "b", 1.0), (7, "c", 1.0)]), 5 * SECOND)
    assert state.waiting["server"].to_pylist() == ["b", "c"]
    state, _ = host.advance(state, host.schema.empty_table(), 8 * SECOND)
    assert state.waiting.num_rows == 0


def test_before_the_first_row_there_is_no_watermark() -> None:
    """M1: rows that come under none just wait."""
    host = host_of(TOTAL)
    state, events = host.advance(host.start(), table(host, [(3, "a", 1.0)]), NO_WATERMARK)
    assert (state.waiting.num_rows, events["total"].num_rows) == (1, 0)


def test_order_of_arrival_does_not_change_an_answer() -> None:
    """M1: this sum depends on the order of its terms (1e16 + 1 - 1e16 is 0), and the order is that of time."""
    host = host_of(TOTAL)
    answers = set()
    for rows in permutations([(1, "a", 1e16), (2, "a", 1.0), (3, "a", -1e16)]):
        _, found = advance(host, host.start(), list(rows), 10)
        answers.add(found[0][1])
    assert answers == {0.0}


def test_ties_in_time_are_broken_by_position() -> None:
    """M1: whichever batch brought the rows."""
    host = host_of(TOTAL)
    first, second = table(host, [(1, "a", 1e16)], 0), table(host, [(1, "a", 1.0), (1, "a", -1e16)], 1)
    totals = []
    for batch in (pa.concat_tables([first, second]), pa.concat_tables([second, first])):
        _, events = host.advance(host.start(), batch, 10 * SECOND)
        totals.append(events["total"]["total"].to_pylist())
    assert totals == [[0.0], [0.0]]


def test_a_watermark_that_falls_back_changes_nothing() -> None:
    """M1: what was given out is not given out again, and what is kept is not lost."""
    host = host_of(TOTAL)
    state, found = advance(host, host.start(), [(3, "a", 1.0), (13, "a", 2.0)], 12)
    assert found == [["a", 1.0, 1, 0]]
    state, found = advance(host, state, [], 2)
    assert found == []
    _, found = advance(host, state, [], 20)
    assert found == [["a", 2.0, 1, 10 * SECOND]]


def test_stateless_queries_see_rows_at_once() -> None:
    """M1: as they arrive, whatever the watermark; NULL is not loud."""
    host = host_of(LOUD)
    rows: list[Row] = [(3, "a", 150.0), (1, "b", 99.0), (2, None, 101.0), (4, "c", None)]
    state, events = host.advance(host.start(), table(host, rows), NO_WATERMARK)
    assert plain_rows(events["loud"].drop_columns(["eid"])) == [[3 * SECOND, "a", 150.0], [2 * SECOND, None, 101.0]]
    assert state.waiting.num_rows == 0


def test_one_row_serves_every_query_of_the_operator() -> None:
    """M1: a filter sees it now, a window later."""
    host = host_of(TOTAL, LOUD)
    state, now = host.advance(host.start(), table(host, [(3, "a", 150.0)]), NO_WATERMARK)
    assert (now["loud"].num_rows, now["total"].num_rows) == (1, 0)
    _, later = host.advance(state, host.schema.empty_table(), END_OF_TIME)
    assert (later["loud"].num_rows, later["total"].num_rows) == (0, 1)


def test_null_is_a_server_too() -> None:
    """M1: rows without a key are grouped together and not with the empty name."""
    host = host_of(TOTAL)
    _, found = advance(host, host.start(), [(1, None, 1.0), (2, "", 2.0), (3, None, 4.0)], 10)
    assert sorted(found, key=str) == sorted([[None, 5.0, 2, 0], ["", 2.0, 1, 0]], key=str)


def eids(host: BucketHost, rows: list[Row], query: str = "total", first: int = 0) -> list[str]:
    _, events = host.advance(host.start(), table(host, rows, first), END_OF_TIME)
    found: list[str] = sort_events(events[query])["eid"].to_pylist()
    return found


def test_an_id_names_query_version_key_and_window() -> None:
    """M1: change any one of them and it is another event."""
    row: list[Row] = [(1, "a", 1.0)]
    [usual] = eids(host_of(TOTAL), row)
    assert eids(host_of(TOTAL), [(9, "a", 50.0), (2, "a", None)], first=77) == [usual]
    others = {
        *eids(host_of(TOTAL.replace("total AS SELECT", "sums AS SELECT")), row, "sums"),
        *eids(host_of(TOTAL, versions={"total": 2}), row),
        *eids(host_of(TOTAL), [(1, "b", 1.0)]),
        *eids(host_of(TOTAL), [(11, "a", 1.0)]),
    }
    assert len(others | {usual}) == 5


def test_the_id_of_a_filtered_row_is_its_position() -> None:
    """M1: two rows with equal values are two events."""
    host = host_of(LOUD)
    twins: list[Row] = [(1, "a", 150.0), (1, "a", 150.0)]
    one, two = eids(host, twins, "loud", first=5)
    assert one != two
    assert set(eids(host, twins[:1], "loud", first=5)) < {one, two}


STORY: list[tuple[list[Row], int]] = [
    ([(1, "a", 1.0), (12, "b", 150.0)], 8),
    ([(9, "a", 0.1), (11, "a", 0.2), (8, None, 0.3)], 11),
    ([], 19),
    ([(25, "c", 1.0), (19, "a", 0.4)], 24),
    ([(40, "b", 2.0)], 60),
]


def tell(host: BucketHost, restart_after: int | None) -> list[list[Any]]:
    state, found = host.start(), []
    for number, (rows, watermark) in enumerate(STORY):
        state, events = host.advance(state, table(host, rows, 10 * number), watermark * SECOND)
        found += plain_rows(events["total"])
        if number == restart_after:
            state = host.load(host.dump(state))
    return found


@pytest.mark.parametrize("after", range(len(STORY)))
def test_a_restart_between_any_two_batches_changes_nothing(after: int) -> None:
    """M1: the state as bytes is all of the state."""
    assert tell(host_of(TOTAL), after) == tell(host_of(TOTAL), None)
    assert len(tell(host_of(TOTAL), None)) == 6


def test_without_bytes_a_bucket_starts_empty() -> None:
    """M1: the first batch of an operator finds no state file."""
    host = host_of(TOTAL)
    assert host.dump(host.load(None)) == host.dump(host.start())


def test_a_damaged_state_is_refused() -> None:
    """M1: a bucket never goes on from garbage."""
    host = host_of(TOTAL)
    state, _ = host.advance(host.start(), table(host, [(3, "a", 1.0)]), 5 * SECOND)
    with pytest.raises(MoiraeError, match="state: expected"):
        host.load(host.dump(state)[:-5])


HALF_A_WINDOW: list[Row] = [(1, "a", 1.0), (2, "a", 2.0)]


def test_a_query_that_stays_keeps_its_state_when_another_comes() -> None:
    """M9: the new one begins with the rows after it."""
    largest = TOTAL.replace("total AS SELECT", "largest AS SELECT")
    before, after = host_of(TOTAL), host_of(TOTAL, largest)
    state, _ = before.advance(before.start(), table(before, HALF_A_WINDOW), 5 * SECOND)
    state = after.load(before.dump(state))
    _, events = after.advance(state, table(after, [(6, "a", 4.0)], 2), 10 * SECOND)
    assert events["total"]["total"].to_pylist() == [7.0]
    assert events["largest"]["total"].to_pylist() == [4.0]


@pytest.mark.parametrize(
    ("query", "version"),
    [(TOTAL.replace("10 seconds", "5 seconds"), 1), (TOTAL, 2)],
    ids=["meaning", "version"],
)
def test_a_changed_query_never_reads_the_old_ones_state(query: str, version: int) -> None:
    """M9: registers of another query would be read as nonsense."""
    before, changed = host_of(TOTAL), host_of(query, versions={"total": version})
    state, _ = before.advance(before.start(), table(before, HALF_A_WINDOW), 5 * SECOND)
    _, events = changed.advance(changed.load(before.dump(state)), table(changed, [(6, "a", 4.0)], 2), END_OF_TIME)
    assert events["total"]["total"].to_pylist() == [4.0]


def test_a_query_that_left_takes_its_state_along() -> None:
    """M9: undeploying frees it."""
    other = TOTAL.replace("total AS SELECT", "other AS SELECT").replace("sum(load)", "count(DISTINCT load)")
    both, one = host_of(TOTAL, other), host_of(TOTAL)
    state, _ = both.advance(both.start(), table(both, HALF_A_WINDOW), 5 * SECOND)
    alone, _ = one.advance(one.start(), table(one, HALF_A_WINDOW), 5 * SECOND)
    assert one.dump(one.load(both.dump(state))) == one.dump(alone)


def test_rows_that_waited_do_not_know_a_column_nobody_read() -> None:
    """M9: it is NULL for them; rows that come now have it."""
    by_bytes = "CREATE EVENT b AS SELECT sum(bytes) AS b, count(*) AS n FROM s GROUP BY server, window(at, '1 hour');"
    before, after = host_of(TOTAL), host_of(TOTAL, by_bytes)
    state, _ = before.advance(before.start(), table(before, HALF_A_WINDOW), 0)
    _, events = after.advance(after.load(before.dump(state)), table(after, [(6, "a", 4.0)], 2), END_OF_TIME)
    assert plain_rows(events["b"].select(["b", "n"])) == [[7, 3]]
    assert events["total"]["total"].to_pylist() == [7.0]


DISTINCT = TOTAL.replace("count(*)", "count(DISTINCT concat(server, ' ', server))")


def crowd(first: int, count: int, at: int) -> list[Row]:
    return [(at, f"server {number}", 1.0) for number in range(first, first + count)]


@pytest.mark.parametrize("query", [TOTAL, DISTINCT], ids=["registers", "distinct"])
def test_keys_that_fell_silent_cost_nothing(query: str) -> None:
    """M1: once the watermark has passed their last window, the state is as small as before they came."""
    host = host_of(query)
    state, _ = advance(host, host.start(), [(1, "server 0", 1.0)], 1000)
    small = len(host.dump(state))
    state, _ = advance(host, state, crowd(0, 1000, 1005), 1005)
    assert len(host.dump(state)) > 20 * small
    state, found = advance(host, state, [], 1010)
    assert len(found) == 1000
    assert len(host.dump(state)) <= small
    assert len(state.keys) == 0


def test_keys_that_come_and_go_do_not_pile_up() -> None:
    """M1: the key table stays in proportion to the keys alive, with one key alive all the time."""
    host, sizes = host_of(DISTINCT), []
    state = host.start()
    for number in range(20):
        rows = [*crowd(100 * number, 100, 10 * number), (10 * number + 9, "always", 1.0)]
        state, _ = advance(host, state, rows, 10 * number + 10)
        sizes.append((len(state.keys), len(host.dump(state))))
    assert max(keys for keys, _ in sizes) <= 2 * 101
    assert max(size for _, size in sizes[10:]) <= max(size for _, size in sizes[:10])


def test_a_key_that_comes_back_is_the_same_key() -> None:
    """M1: forgetting it is not visible in its events."""
    host = host_of(TOTAL)
    state, first = advance(host, host.start(), crowd(0, 50, 1), 100)
    assert len(state.keys) == 0
    _, again = advance(host, state, [(105, "server 7", 3.0)], 110)
    assert ["server 7", 1.0, 1, 0] in first
    assert again == [["server 7", 3.0, 1, 100 * SECOND]]
