"""The state of every bucket, a file a batch, beside the older ones: a replayed batch finds what it began from.

A batch's state counts once the catalog has the batch; until then it is garbage that the next try writes over.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyarrow import fs

from moirae.model.hashing import hash_strings


@dataclass(frozen=True, slots=True)
class StateFiles:
    """Reads and writes below one folder or bucket prefix; cheap to send to executors."""

    root: str

    def path(self, operator: str, bucket: int, batch_id: int) -> str:
        import pyarrow as pa

        name = f"{int(hash_strings(pa.array([operator]))[0]):016x}"
        return f"{self.root}/{name}/{batch_id:012d}.{bucket:04d}"

    def read(self, operator: str, bucket: int, batch_id: int | None) -> bytes | None:
        if batch_id is None:
            return None
        system, path = fs.FileSystem.from_uri(self.path(operator, bucket, batch_id))
        with system.open_input_file(path) as file:
            return bytes(file.read())

    def write(self, operator: str, bucket: int, batch_id: int, blob: bytes) -> None:
        system, path = fs.FileSystem.from_uri(self.path(operator, bucket, batch_id))
        system.create_dir(path.rsplit("/", 1)[0], recursive=True)
        with system.open_output_stream(path + ".tmp") as file:
            file.write(blob)
        system.move(path + ".tmp", path)

    def drop_before(self, operator: str, batch_id: int) -> None:
        """Forget what no replay can ask for."""
        system, folder = fs.FileSystem.from_uri(self.path(operator, 0, 0).rsplit("/", 1)[0])
        for info in system.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
            if int(info.base_name.split(".")[0]) < batch_id:
                system.delete_file(info.path)
