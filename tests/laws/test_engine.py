"""Laws of the engine: the same rows give the same events, however they are cut, spread, stored or replayed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.arrival import late, positions
from tests.oracles.windows import Filtered, Of, Windowed, starts

from moirae.engine.host import BucketHost, sort_events
from moirae.engine.pieces import split_by_bucket
from moirae.engine.process import ProcessRun
from moirae.model.build import call, cast
from moirae.model.expr import Col, Expr, Lit
from moirae.model.query import AGGREGATES, Aggregate, EventDef, Output, Pack, StreamDef, Window
from moirae.model.schema import Schema, Type
from moirae.plan import Operator, plan_program
from moirae.ports.kernel import END_OF_TIME
from moirae.testing import landing_files, plain_rows, start_story

ROWS = Schema.of(
    at=Type.TIMESTAMP, server=Type.STRING, code=Type.INT, bytes=Type.BIGINT, text=Type.STRING, seen=Type.TIMESTAMP
)
AT, SERVER, CODE, BYTES, TEXT, SEEN = (Col(column.name, column.type) for column in ROWS)
LOAD = cast(TEXT, Type.DOUBLE)  # landing files have no NaN or infinity; expressions do

Row = dict[str, Any]
Files = list[list[Row]]


def load_of(row: Row) -> float | None:
    return None if row["text"] is None else float(row["text"])


def get(name: str) -> Of:
    return lambda row: row[name]


PLAIN: dict[Expr, Of] = {
    SERVER: get("server"),
    CODE: get("code"),
    BYTES: get("bytes"),
    SEEN: get("seen"),
    LOAD: load_of,
}
NUMBERS = (CODE, BYTES, LOAD)
CALLS: list[tuple[str, Expr | None]] = [("count", None), *((name, of) for name in AGGREGATES for of in NUMBERS)]
CALLS += [(name, of) for name in ("count", "count_distinct") for of in (SERVER, SEEN)]
CALLS += [("min", SEEN), ("max", SEEN)]
KEYS: list[tuple[Expr, ...]] = [(), (SERVER,), (SERVER, CODE), (LOAD,), (SEEN, SERVER)]


def type_of(function: str, of: Expr | None) -> Type:
    if function in ("count", "count_distinct") or of is None:
        return Type.BIGINT
    if function in ("min", "max"):
        return of.type
    return Type.BIGINT if function == "sum" and of.type is not Type.DOUBLE else Type.DOUBLE


def windowed(
    name: str, window: Window, keys: tuple[Expr, ...], calls: Sequence[tuple[str, Expr | None]], where: Expr | None
) -> EventDef:
    own = tuple(Output(f"key{i}", key) for i, key in enumerate(keys))
    aggregates = tuple(Aggregate(f"a{i}", f, of, type_of(f, of)) for i, (f, of) in enumerate(calls))
    named = [(key.name, key.expr.type) for key in own] + [(a.name, a.type) for a in aggregates]
    named += [("window_start", Type.TIMESTAMP), ("window_end", Type.TIMESTAMP)]
    select = tuple(Output(name, Col(name, type_)) for name, type_ in named)
    return EventDef(name, "s", where, window, own, aggregates, None, select)


LARGE = EventDef("large", "s", call(">", BYTES, Lit(0, Type.BIGINT)), None, (), (), None, (Output("bytes", BYTES),))
LARGE_ORACLE = Filtered("large", [get("bytes")], lambda row: None if row["bytes"] is None else row["bytes"] > 0)
ONLY_CODED = call(">", CODE, Lit(0, Type.INT))


@dataclass(frozen=True)
class Story:
    """Files of rows, a lateness, a query and its obvious twin."""

    files: Files
    lateness: int
    query: EventDef
    oracle: Windowed

    @property
    def pack(self) -> Pack:
        stream = StreamDef("s", ROWS, "at", self.lateness, source_name="s")
        return Pack(streams=(stream,), events=(self.query, LARGE))

    @property
    def landed(self) -> list[tuple[str, int, bytes]]:
        return landing_files(self.pack.streams[0], self.files)

    def in_time(self) -> list[Row]:
        rows = [row for file in self.files for row in file]
        placed = [{**row, "_pos": pos} for row, pos in zip(rows, positions([*map(len, self.files)]), strict=True)]
        return [
            row for row, lost in zip(placed, late([row["at"] for row in rows], self.lateness), strict=True) if not lost
        ]

    def at_once(self, buckets: int = 1) -> ProcessRun:
        run = start_story(self.pack, buckets)
        run.batch(self.landed)
        return run

    def __repr__(self) -> str:
        window, keys = self.query.window, [key.expr for key in self.query.keys]
        return f"Story({self.files}, lateness={self.lateness}, {window}, {keys}, {len(self.query.aggregates)} calls)"


BIG = 2**63
MOMENTS = st.sampled_from([-62_000_000_000_000_000, -7, 0, 1_767_225_600_000_000])
NUMBERS_TEXT = st.sampled_from(["NaN", "Infinity", "-Infinity", "-0.0", "0.0", "1e100"]) | st.floats(-1e6, 1e6).map(
    repr
)
BYTE_COUNTS = st.integers(-20, 20) | st.sampled_from([-BIG, BIG - 1, 2**62, -(2**62)])
SERVERS = st.sampled_from(["a", "b", "a\x1fb", "\x00", "", "é"])


@st.composite
def rows(draw: st.DrawFn, base: int) -> Row:
    return {
        "at": base + draw(st.integers(0, 60)),
        "server": draw(st.none() | SERVERS),
        "code": draw(st.none() | st.integers(-3, 3)),
        "bytes": draw(st.none() | BYTE_COUNTS),
        "text": draw(st.none() | NUMBERS_TEXT),
        "seen": draw(st.none() | st.integers(-3, 3)),
    }


@st.composite
def stories(draw: st.DrawFn) -> Story:
    base = draw(MOMENTS)
    files = draw(st.lists(st.lists(rows(base), max_size=8), min_size=1, max_size=5))
    size = draw(st.integers(1, 25))
    window = Window(size, draw(st.sampled_from([size, 1, max(size // 3, 1)]) | st.integers(1, size)))
    keys = draw(st.sampled_from(KEYS))
    calls = draw(st.lists(st.sampled_from(CALLS), max_size=6, unique=True))
    where = draw(st.sampled_from([None, ONLY_CODED]))
    oracle = Windowed(
        "q",
        window.size_us,
        window.hop_us,
        [PLAIN[key] for key in keys],
        [(name, None if of is None else PLAIN[of]) for name, of in calls],
        (lambda _: True) if where is None else (lambda row: None if row["code"] is None else row["code"] > 0),
    )
    lateness = draw(st.sampled_from([0, 3, 20, 1000]))
    return Story(files, lateness, windowed("q", window, keys, calls, where), oracle)


def cut(files: list[Any], cuts: set[int]) -> list[list[Any]]:
    """The files in batches, a new one at each cut."""
    borders = [0, *sorted(c for c in cuts if 0 < c < len(files)), len(files)]
    return [files[low:high] for low, high in pairwise(borders)]


CUTS = st.sets(st.integers(1, 4))


def same(found: dict[str, pa.Table], expected: dict[str, pa.Table]) -> bool:
    """To the bit: NaN equals NaN, 0.0 does not equal -0.0."""
    return {n: repr(plain_rows(t)) for n, t in found.items()} == {n: repr(plain_rows(t)) for n, t in expected.items()}


@settings(max_examples=150, deadline=None)
@given(stories())
def test_events_are_those_of_the_obvious_way(story: Story) -> None:
    """M1: windows, filters, late rows and event ids, against brute force over plain rows."""
    run = story.at_once()
    found, taken = run.finish(), story.in_time()
    assert plain_rows(found["q"]) == story.oracle.events(taken)
    assert plain_rows(found["large"]) == LARGE_ORACLE.events(taken)
    assert sum(t.num_rows for t in run.archive.get("s", [])) == len(taken)
    assert sum(t.num_rows for t in run.late.get("s", [])) == sum(map(len, story.files)) - len(taken)


@settings(max_examples=80, deadline=None)
@given(stories(), CUTS, st.sampled_from([1, 2, 3, 7]), st.booleans())
def test_batches_buckets_and_restarts_change_no_event(story: Story, cuts: set[int], buckets: int, stop: bool) -> None:
    """M1: any cut of the files into batches, any number of buckets, state in memory or through its bytes."""
    run = start_story(story.pack, buckets)
    for batch in cut(story.landed, cuts):
        run.batch(batch)
        if stop:
            run.restart(run.program)
    assert same(run.finish(), story.at_once().finish())


@settings(max_examples=40, deadline=None)
@given(stories(), stories(), CUTS, st.integers(0, 4))
def test_a_query_deployed_in_mid_run_disturbs_no_other(story: Story, other: Story, cuts: set[int], when: int) -> None:
    """M1: other queries keep their state and their events; the new one joins, shares keys, or brings its own."""
    late_comer = replace(other.query, name="late_comer")
    larger = plan_program(replace(story.pack, events=(*story.pack.events, late_comer)))
    run = start_story(story.pack, 2)
    for number, batch in enumerate(cut(story.landed, cuts)):
        if number == when:
            run.restart(larger)
        run.batch(batch)
    found = run.finish()
    found.pop("late_comer", None)
    assert same(found, story.at_once().finish())


def replay(operator: Operator, chunks: Sequence[pa.Table], watermarks: Sequence[int], buckets: int) -> pa.Table:
    """Events of "q" from archived rows, chunk by chunk, from an empty state."""
    host = BucketHost(operator)
    states = [host.start() for _ in range(buckets)]
    found = []
    for chunk, watermark in zip(chunks, watermarks, strict=True):
        parts = dict(split_by_bucket(operator, chunk, buckets))
        for bucket in range(buckets):
            taken = parts.get(bucket, host.schema.empty_table())
            states[bucket], events = host.advance(states[bucket], taken, watermark)
            found.append(events["q"])
    return sort_events(pa.concat_tables(found))


@settings(max_examples=60, deadline=None)
@given(stories(), CUTS, st.sampled_from([1, 3]))
def test_replay_of_the_archive_finds_the_events_of_the_continuous_run(story: Story, cuts: set[int], n: int) -> None:
    """M11: chunk by chunk in order of arrival, with the watermark each chunk allows."""
    run = story.at_once()
    expected = run.finish()["q"]
    chunks = [pa.concat_tables(part) for part in cut(run.archive.get("s", []), cuts) if part]
    newest, watermarks = -BIG, []
    for chunk in chunks:
        newest = max([newest, *chunk["at"].cast(pa.int64()).to_pylist()])
        watermarks.append(newest - story.lateness if newest > -BIG else newest)
    empty = [run.archived()["s"].slice(0, 0)]
    operator = next(o for o in run.program.operators if o.queries[0].name == "q")
    found = replay(operator, [*chunks, *empty], [*watermarks, END_OF_TIME], n)
    assert same({"q": found}, {"q": expected})


@settings(max_examples=60, deadline=None)
@given(stories(), st.integers(0, 4))
def test_a_chunk_with_overlap_finds_every_event_it_has_part_in(story: Story, number: int) -> None:
    """M11: its own rows and those of its neighbours within a window's size are enough, and give the same ids."""
    run = story.at_once()
    expected, archive = run.finish()["q"], run.archived()["s"]
    own = [time for file in run.archive.get("s", [])[number : number + 1] for time in times_of(file)]
    if not own:
        return
    near = [min(own) - story.oracle.size <= at < max(own) + story.oracle.size for at in times_of(archive)]
    operator = next(o for o in run.program.operators if o.queries[0].name == "q")
    found = replay(operator, [archive.filter(pa.array(near))], [END_OF_TIME], 1)
    touched = {s for at in own for s in starts(at, story.oracle.size, story.oracle.hop)}
    assert same({"q": of_windows(found, touched)}, {"q": of_windows(expected, touched)})


def times_of(table: pa.Table) -> list[int]:
    times: list[int] = table["at"].cast(pa.int64()).to_pylist()
    return times


def of_windows(events: pa.Table, touched: set[int]) -> pa.Table:
    begun = events["window_start"].cast(pa.int64()).to_pylist()
    return events.filter(pa.array([start in touched for start in begun], pa.bool_()))


def test_load_of_reads_numbers_as_the_cast_does() -> None:
    """The oracle's own reading of the text column."""
    assert math.isnan(load_of({"text": "NaN"}) or 0.0)
    assert load_of({"text": "-Infinity"}) == -math.inf
