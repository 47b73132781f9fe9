"""A store filled the way the platform fills one, for tests that read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from moirae.adapters.catalog import SqlCatalog
from moirae.adapters.delta import latest_version, read_table
from moirae.adapters.spark.detect import DetectEvents
from moirae.adapters.spark.job import catalog_of
from moirae.config import Config, load_config
from moirae.deploy import pack_statements
from moirae.lang import bind
from moirae.simulator import Spec, Written, write_history

ROOT = Path(__file__).resolve().parent.parent.parent
DAY = 86_400_000_000
END = 20_000 * DAY


@dataclass(frozen=True)
class Store:
    config: Config
    catalog: SqlCatalog
    written: Written | None = None


def open_store(folder: Path, **settings: str) -> Store:
    """A new store with the data centre's pack deployed."""
    overrides = {"store.root": f"file:{folder}", "quality.folder": str(ROOT / "config" / "quality")}
    overrides |= {key.replace("__", "."): value for key, value in settings.items()}
    config = load_config(ROOT / "config" / "embedded.yaml", environment={}, overrides=overrides)
    catalog = catalog_of(config)
    pack = bind((ROOT / "config" / "queries" / "datacentre.sql").read_text())
    catalog.deploy(pack_statements(pack), 0)
    return Store(config, catalog)


def simulate(store: Store, days: float, *, servers: int = 6, rows_per_file: int = 2000, seed: int = 11) -> Written:
    spec = Spec(
        seed=seed,
        start_us=END - round(days * DAY),
        end_us=END,
        servers=servers,
        racks=2,
        late_rate=0.02,
        malformed_rate=0.01,
    )
    return write_history(spec, Path(store.config.ingest.landing), rows_per_file=rows_per_file)


def detect_all(spark: SparkSession, store: Store) -> None:
    """Take everything that has landed, then stop."""
    query = DetectEvents(spark, store.catalog, store.config, clock=lambda: END).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def archive(store: Store, stream: str) -> pa.Table:
    """All archived rows of a stream in the order of arrival."""
    chunks = [c for c in store.catalog.chunks(stream) if c.delta_version is not None]
    return pa.concat_tables([read_table(c.path, c.delta_version) for c in chunks]).sort_by("_pos")


def side_table(store: Store, name: str, order: list[str]) -> pa.Table | None:
    path = f"{store.config.store.place}/{name}"
    if latest_version(path) is None:
        return None
    table = read_table(path)
    wanted = [column for column in table.column_names if column != "batch_id"]
    return table.select(wanted).sort_by([(column, "ascending") for column in order])
