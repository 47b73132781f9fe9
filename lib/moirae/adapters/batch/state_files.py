"""The state of every bucket, a file a batch, beside the older ones: a replayed batch finds what it began from.

A batch's state counts once the catalog has the batch; until then it is garbage that the next try writes over.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyarrow import fs

from moirae.adapters.storage import locate, read_bytes
from moirae.model.hashing import hash_strings


@dataclass(frozen=True, slots=True)
class StateFiles:
    """Reads and writes below one folder or bucket prefix; cheap to send to executors."""

    root: str

    def path(self, operator: str, bucket: int, batch_id: int) -> str:
        name = f"{int(hash_strings(pa.array([operator]))[0]):016x}"
        return f"{self.root}/{name}/{batch_id:012d}.{bucket:04d}"

    def read(self, operator: str, bucket: int, batch_id: int | None) -> bytes | None:
        if batch_id is None:
            return None
        return read_bytes(self.path(operator, bucket, batch_id))

    def write(self, operator: str, bucket: int, batch_id: int, blob: bytes) -> None:
        system, path = locate(self.path(operator, bucket, batch_id))
        system.create_dir(path.rsplit("/", 1)[0], recursive=True)
        with system.open_output_stream(path + ".tmp") as file:
            file.write(blob)
        system.move(path + ".tmp", path)

    def drop_before(self, operator: str, batch_id: int) -> None:
        """Forget what no replay can ask for."""
        system, folder = locate(self.path(operator, 0, 0).rsplit("/", 1)[0])
        for info in system.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
            if int(info.base_name.split(".")[0]) < batch_id:
                system.delete_file(info.path)
