"""The same pack over the same rows gives the same bytes from every engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from pyspark.sql import SparkSession
from tests.spark.store import DAY, END, ROOT

import moirae
from moirae.engine.blob import ipc_bytes
from moirae.simulator import Spec, write_history

PACKS = sorted((ROOT / "config" / "queries").glob("*.sql"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Half a day with late and malformed rows, one file a stream."""
    folder = tmp_path_factory.mktemp("simulated") / "landing"
    spec = Spec(seed=5, start_us=END - DAY // 2, end_us=END, servers=6, racks=2, late_rate=0.02, malformed_rate=0.01)
    write_history(spec, folder, rows_per_file=10**6)
    return {place.name: next(place.iterdir()) for place in folder.iterdir()}


@pytest.mark.spark
@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.stem)
def test_process_batch_and_stream_engines_agree_to_the_byte(
    spark: SparkSession, inputs: dict[str, Path], pack: Path
) -> None:
    """M1: one engine in three places."""
    text = pack.read_text()
    wanted = {name: path for name, path in inputs.items() if f"CREATE STREAM {name} " in text}
    told: dict[str, list[str]] = {engine: [] for engine in ("process", "batch", "stream")}
    results = {
        engine: moirae.run(text, wanted, engine=engine, chunk="3 hours", warn=lines.append)
        for engine, lines in told.items()
    }
    assert any(" lines refused" in line for line in told["process"])
    assert any(" rows left out" in line for line in told["process"])
    assert told["batch"] == told["stream"] == told["process"]
    assert sum(table.num_rows for table in results["process"].values()) > 50
    for name, table in results["process"].items():
        for engine in ("batch", "stream"):
            assert _bytes(results[engine][name]) == _bytes(table), (engine, name)


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["process", "batch", "stream"])
def test_equal_lines_all_count_wherever_an_input_is_cut(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    """P3: parts of one input are no duplicates of each other."""
    text = """
    CREATE STREAM traffic (at TIMESTAMP, bytes BIGINT) ORDER BY at FROM LANDING 'traffic';
    CREATE EVENT all_rows AS SELECT count(*) AS n FROM traffic GROUP BY window(at, '1 minute');
    """
    (tmp_path / "rows.jsonl").write_text('{"at": "2026-01-01T00:00:00Z", "bytes": 1}\n' * 40)
    told: list[str] = []
    found = moirae.run(text, {"traffic": tmp_path / "rows.jsonl"}, engine=engine, warn=told.append)
    assert (found["all_rows"]["n"].to_pylist(), told) == ([40], [])


def _bytes(table: pa.Table) -> bytes:
    return ipc_bytes(table.combine_chunks())
