"""Batches and the chunks they go to."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.store import END, archive, open_store, simulate

from moirae.adapters.spark.detect import DetectEvents


@pytest.mark.spark
def test_a_chunk_sealed_in_mid_batch_gets_none_of_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    """M7: rows written for a chunk that was rolled meanwhile go to the next one, once, and to no other."""
    store = open_store(tmp_path, ingest__max_files_per_batch="4")
    written = simulate(store, 0.2, rows_per_file=600)
    sealed: dict[str, int] = {}

    def reached(point: str) -> None:
        chunk = store.catalog.present_chunk("traffic", f"{store.config.store.place}/chunks", END)
        if point == "archived" and chunk.rows and not sealed:
            sealed[chunk.id] = chunk.rows
            store.catalog.roll(chunk.id, chunk.epoch, END)

    query = DetectEvents(spark, store.catalog, store.config, clock=lambda: END, reached=reached).start()
    query.processAllAvailable()
    query.stop()

    first, *later = store.catalog.chunks("traffic")
    assert sealed == {first.id: first.rows}
    assert sum(chunk.rows for chunk in later) > 0
    counts, truth = store.catalog.totals()["traffic"], written.streams["traffic"]
    assert first.rows + sum(chunk.rows for chunk in later) == counts.archived
    assert counts.archived == truth.lines - truth.late - sum(truth.malformed.values())
    positions = archive(store, "traffic")["_pos"].to_pylist()
    assert len(set(positions)) == len(positions) == counts.archived
