"""Delta tables without Spark: what a pinned version consists of, and appends of files written elsewhere."""

from moirae.adapters.delta.append import NewFile, commit_files, copy_files, write_file
from moirae.adapters.delta.log import DataFile, files_at, last_transaction, latest_version, read_table

__all__ = [
    "DataFile",
    "NewFile",
    "commit_files",
    "copy_files",
    "files_at",
    "last_transaction",
    "latest_version",
    "read_table",
    "write_file",
]
