"""Spark sessions with the settings Moirae was measured with. Nothing is resolved at run time: jars are files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from moirae.config import Config
from moirae.errors import PlatformError

# Set-up puts the locked jars beside the packages of the environment.
JARS = Path(sys.prefix) / "jars"

_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",  # the default of 50 makes an append take seconds
    "spark.databricks.delta.stats.collect": "false",  # for the present chunk; compaction turns it on
    "spark.sql.adaptive.enabled": "false",  # micro-batches are small: planning again costs more than it saves
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default is read by others as nanoseconds
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.debug.maxToStringFields": "200",
    "spark.python.worker.reuse": "true",
    # Memory that was in use a moment ago costs less than memory the system has to find anew.
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    "spark.sql.warehouse.dir": "/nonexistent/moirae-uses-no-warehouse",
}


def make_session(name: str, config: Config, settings: dict[str, str] | None = None) -> SparkSession:
    """A session for one job. `settings` overrides for this job only."""
    jars = sorted(str(jar) for jar in JARS.glob("*.jar"))
    if not jars:
        raise PlatformError(f"{JARS}: expected Delta's jars, but found none; run 'make setup'")
    # Workers must run this very interpreter, or they take the system's.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).master(config.spark.master)
    cores = str(config.spark.cores)
    chosen = {
        **_SETTINGS,
        "spark.jars": ",".join(jars),
        "spark.driver.memory": f"{config.spark.driver_memory >> 20}m",
        "spark.sql.shuffle.partitions": cores,
        "spark.default.parallelism": cores,
        **config.spark.settings(),
        **(settings or {}),
    }
    for key, value in chosen.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def spark_session(name: str, config: Config, settings: dict[str, str] | None = None) -> Iterator[SparkSession]:
    session = make_session(name, config, settings)
    try:
        yield session
    finally:
        session.stop()
