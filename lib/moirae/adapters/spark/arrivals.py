"""Spark watches the landing folder and remembers which files each micro-batch had; their contents it never touches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import unquote

from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from moirae.adapters.batch.step import Arrival
from moirae.adapters.storage import locate, read_bytes

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


def passed_over(checkpoint: str, batch_id: int, arrivals: list[Arrival]) -> list[Arrival]:
    """Files that Spark put into the batch and then did not give: those without a byte when it planned its tasks.

    Their names will never come again, so what has been written into them since would be lost.
    """
    given = {_plain(arrival.path) for arrival in arrivals}
    first, last = _log_offset(checkpoint, batch_id - 1), _log_offset(checkpoint, batch_id)
    listed = (entry for number in range(first + 1, last + 1) for entry in _logged(checkpoint, number))
    return [Arrival(path, time, 0) for path, time in listed if _plain(path) not in given]


def _log_offset(checkpoint: str, batch_id: int) -> int:
    """The last entry of the source's log that belongs to a batch."""
    if batch_id < 0:
        return -1
    *_, offset = read_bytes(f"{checkpoint}/offsets/{batch_id}").decode().split("\n")
    return int(json.loads(offset)["logOffset"])


def _logged(checkpoint: str, number: int) -> Iterator[tuple[str, int]]:
    """Paths and times of one entry of the log; every tenth holds all before it as well."""
    place = f"{checkpoint}/sources/0/{number}"
    system, path = locate(place)
    whole = system.get_file_info(path).type != fs.FileType.File
    _, *lines = read_bytes(f"{place}.compact" if whole else place).decode().split("\n")
    for entry in map(json.loads, filter(None, lines)):
        if entry["batchId"] == number:
            local = str(entry["path"]).startswith("file:")  # spelled as a URI, with blanks as %20
            yield f"file:{_plain(entry['path'])}" if local else entry["path"], entry["timestamp"] * 1000


def _plain(path: str) -> str:
    """The same file has one name here, whether it was spelled as a URI or as a path."""
    return "/" + unquote(path).removeprefix("file:").lstrip("/")


def _heads(files: DataFrame) -> DataFrame:
    """Without the contents: a column nobody asks for is not read."""
    return files.select("path", F.unix_micros("modificationTime").alias("time"), F.col("length").alias("size"))
