"""The first batch of a fresh JVM takes many times as long as the next ones: so one is run on made-up rows before the
job says that it is ready."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from moirae.adapters.batch.outcome import outcome_of
from moirae.adapters.batch.settling import Places
from moirae.adapters.batch.spill import Spill
from moirae.adapters.batch.state_files import StateFiles
from moirae.adapters.batch.step import Step, read_files, run_step
from moirae.adapters.batch.tables import stored_schema
from moirae.adapters.batch.workers import here, on_spark
from moirae.adapters.delta import commit_files
from moirae.adapters.spark.arrivals import arrivals_of, list_landing
from moirae.engine.pieces import FILE, FileReader
from moirae.engine.placing import Standing, place_files
from moirae.lang import bind
from moirae.plan import plan_program
from moirae.ports.kernel import END_OF_TIME

_PACK = """
CREATE STREAM warm (at TIMESTAMP, key STRING, value DOUBLE) ORDER BY at FROM LANDING 'warm';
CREATE EVENT warmth AS SELECT key, avg(value) AS mean FROM warm GROUP BY key, window(at, '1 minute');
"""
_LINES = "".join(f'{{"at": "2026-01-01T00:00:{i:02d}Z", "key": "k{i % 3}", "value": {i}}}\n' for i in range(60))


def warm_up(spark: SparkSession, buckets: int) -> None:
    """Run small batches through every step, into a folder that is then forgotten."""
    pack = bind(_PACK)
    program = plan_program(pack)
    (stream,) = pack.streams
    with tempfile.TemporaryDirectory(prefix="moirae-warm-") as scratch:
        landing = Path(scratch) / "landing"
        (landing / "warm").mkdir(parents=True)
        (landing / "warm" / "a.jsonl").write_text(_LINES)
        reader = FileReader(str(landing), pack.streams, program.operators, buckets)
        spill = Spill(f"{scratch}/spill", inline=0)
        for number, workers in enumerate((on_spark(spark), here, here)):
            pieces = read_files(workers, arrivals_of(list_landing(spark, str(landing))), reader, spill)
            heads = [piece for piece in pieces if piece.kind == FILE]
            placements, _ = place_files(heads, Standing(), {})
            step = Step(
                operators=program.operators,
                watermarks={operator.name: END_OF_TIME for operator in program.operators},
                streams={stream.name: stream},
                placements=placements,
                buckets=buckets,
                places=Places({stream.name: f"{scratch}/chunk"}, scratch),
                states=StateFiles(f"{scratch}/state"),
                batch_id=number,
            )
            found = outcome_of(run_step(workers, pieces, step, spill))
            commit_files(f"{scratch}/chunk", stored_schema(stream), found.archived[stream.name].files, "warm", number)
