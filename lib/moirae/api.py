"""`moirae.run`: a pack over files or tables, with no platform. The quickest way to try a query.

All three engines read the same bytes with the same parser and run the same kernels; they differ in who calls them.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from moirae.engine.landing import Landed, land_inputs
from moirae.engine.left_out import LeftOut, tell
from moirae.engine.pieces import FileReader
from moirae.engine.process import ProcessRun
from moirae.errors import MoiraeError
from moirae.lang import bind
from moirae.model.query import Pack
from moirae.model.units import parse_duration
from moirae.plan import Program, plan_program
from moirae.recall.replay import recall_tables

ENGINES = ("process", "batch", "stream")
log = logging.getLogger("moirae.run")


def run(
    text: str,
    inputs: Mapping[str, Any],
    engine: str = "process",
    chunk: str = "1 day",
    query: str | None = None,
    where: str = "",
    warn: Callable[[str], None] = log.warning,
) -> dict[str, pa.Table]:
    """Run a pack over `inputs`: by stream a path, an Arrow table or a pandas DataFrame.

    Returns a table for each event query and recall (or only for `query`): events in (at, eid) order; recalls with one
    row a revision, answered from chunks of `chunk` of event time. A bare SELECT is called `result`. What was left
    out of the input, and why, is told to `warn` line by line.
    """
    if engine not in ENGINES:
        raise MoiraeError(f"engine: expected one of {', '.join(ENGINES)}, but found '{engine}'; choose one of them")
    pack = bind(text, where=where)
    _check_names(pack, inputs, query)
    program = plan_program(pack)
    with tempfile.TemporaryDirectory(prefix="moirae-run-") as scratch:
        landed = land_inputs(pack, inputs, Path(scratch) / "landing")
        found, archive, left_out = _run_engine(engine, pack, program, landed, scratch)
    for line in tell(left_out, landed, pack.streams):
        warn(line)
    tables = {name: table for name, table in found.items() if name != "result"}
    tables |= recall_tables(pack, found, archive, parse_duration(chunk))
    if pack.result is not None:
        own = [output.name for output in pack.result.select]
        tables["result"] = found["result"].select(own)
    return tables if query is None else {query: tables[query]}


def _check_names(pack: Pack, inputs: Mapping[str, Any], query: str | None) -> None:
    known = [stream.name for stream in pack.streams] + [table.name for table in pack.tables]
    wanted = {event.stream for event in (*pack.events, *((pack.result,) if pack.result else ()))}
    wanted |= {recall.stream for recall in pack.recalls}
    if unknown := sorted(set(inputs) - set(known)):
        remedy = f"the pack knows {', '.join(known) or 'no stream'}"
        raise MoiraeError(f"input '{unknown[0]}': expected a stream or table of the pack, but found none; {remedy}")
    if missing := sorted(wanted - set(inputs)):
        raise MoiraeError(f"stream '{missing[0]}': expected an input, but found none; add --input {missing[0]}=FILE")
    names = [event.name for event in pack.events] + [recall.name for recall in pack.recalls]
    names += ["result"] if pack.result else []
    if query is not None and query not in names:
        raise MoiraeError(f"query '{query}': expected one of {', '.join(names)}, but found no such query; choose one")


def _run_engine(
    engine: str, pack: Pack, program: Program, landed: Landed, scratch: str
) -> tuple[dict[str, pa.Table], dict[str, pa.Table], LeftOut]:
    """Events by query, the archive by stream, and what is in neither."""
    reader = FileReader(landed.folder, pack.streams, program.operators, buckets=1)
    if engine == "process":
        work = ProcessRun(program, reader)
        for path, file_time in landed.files:
            work.batch([(path, file_time, Path(path).read_bytes())])
        late = {stream: sum(table.num_rows for table in tables) for stream, tables in work.late.items()}
        return work.finish(), work.archived(), LeftOut(late, work.bad)
    from moirae.adapters.spark.running import run_on_spark

    return run_on_spark(engine, program, reader, scratch)
