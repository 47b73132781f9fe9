"""Delta tables: what a pinned version consists of, read from the log without starting Spark."""

from moirae.adapters.delta.log import DataFile, files_at, latest_version, read_table

__all__ = ["DataFile", "files_at", "latest_version", "read_table"]
