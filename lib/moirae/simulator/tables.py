"""Clean rows as Arrow tables: the one place where numbers become names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from moirae.simulator.columns import Columns, trim
from moirae.simulator.heartbeats import heartbeats
from moirae.simulator.logins import OUTCOMES, USERS, logins
from moirae.simulator.processes import NAMES, processes
from moirae.simulator.rhythm import Habits
from moirae.simulator.seeds import blocks
from moirae.simulator.spec import SERVERS, STREAMS, Spec
from moirae.simulator.traffic import traffic
from moirae.simulator.world import World

_BLOCK: Mapping[str, Callable[[World, int, int], Columns]] = MappingProxyType(
    {"traffic": traffic, "logins": logins, "processes": processes, "heartbeats": heartbeats}
)
_WORDS: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {("logins", "user"): USERS, ("logins", "outcome"): OUTCOMES, ("processes", "name"): NAMES}
)


def simulate_tables(spec: Spec) -> dict[str, pa.Table]:
    """The clean rows of each stream in order of time, without late or malformed ones."""
    world = World.of(spec)
    return {stream: _table(world, stream) for stream in STREAMS}


def _table(world: World, stream: str) -> pa.Table:
    spec = world.spec
    drawn = (draw_block(world, stream, start, end) for start, end in blocks(spec, stream))
    parts = [to_arrow(world, stream, trim(rows, spec.start_us, spec.end_us)) for rows in drawn]
    return pa.concat_tables(parts)


def draw_block(world: World, stream: str, start: int, end: int) -> Columns:
    """All rows of a whole block, also those outside the span."""
    return _BLOCK[stream](world, start, end)


def to_arrow(world: World, stream: str, rows: Columns) -> pa.Table:
    schema = STREAMS[stream]
    arrays = [_array(world, stream, column.name, rows).cast(column.type.arrow) for column in schema]
    return pa.Table.from_arrays(arrays, schema=schema.arrow)


def _array(world: World, stream: str, name: str, rows: Columns) -> pa.Array:
    words = world.habits.names if name == "server" else _WORDS.get((stream, name))
    return pa.array(words).take(pa.array(rows[name])) if words else pa.array(rows[name])


def servers_table(spec: Spec) -> pa.Table:
    """The static table: every server with its rack and number of CPUs."""
    habits = Habits.of(spec)
    cpus = pa.array(habits.cpus.astype(np.int32))
    return pa.Table.from_arrays([pa.array(habits.names), pa.array(habits.racks), cpus], schema=SERVERS.arrow)
