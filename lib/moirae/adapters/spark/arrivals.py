"""Spark watches the landing folder and remembers which files each micro-batch had; their contents it never touches."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from moirae.adapters.batch.step import Arrival

# Spark passes over files that are a week older than the newest one it has seen: a copied file keeps its old time.
_FOR_EVER = "36500d"
_FILES = "path string, modificationTime timestamp, length bigint, content binary"


def watch_landing(spark: SparkSession, landing: str, files_per_batch: int) -> DataFrame:
    """Files as they land, oldest first."""
    source = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
    source = source.option("maxFileAge", _FOR_EVER)
    return _heads(source.option("maxFilesPerTrigger", files_per_batch).load(landing))


def list_landing(spark: SparkSession, landing: str) -> DataFrame:
    """All files there are."""
    source = spark.read.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
    return _heads(source.load(landing))


def arrivals_of(files: DataFrame) -> list[Arrival]:
    """The files of a batch."""
    return [Arrival(row["path"], row["time"], row["size"]) for row in files.collect()]


def _heads(files: DataFrame) -> DataFrame:
    """Without the contents: a column nobody asks for is not read."""
    return files.select("path", F.unix_micros("modificationTime").alias("time"), F.col("length").alias("size"))
