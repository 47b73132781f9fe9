"""Payloads too large to travel with the tasks stand in files that last as long as their batch."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

import pyarrow as pa

from moirae.adapters.storage import delete_folder, locate
from moirae.engine.pieces import Piece, payload_table


@dataclass(frozen=True, slots=True)
class Spill:
    """A folder all tasks can reach; payloads up to `inline` bytes stay where they are."""

    folder: str
    inline: int = 64 << 10

    def put(self, piece: Piece) -> Piece:
        if piece.size <= self.inline:
            return piece
        system, folder = locate(self.folder)
        system.create_dir(folder, recursive=True)
        name = uuid.uuid4().hex
        with system.open_output_stream(f"{folder}/{name}") as file:
            file.write(piece.payload)
        return replace(piece, payload=b"", spilled=name)

    def rows(self, piece: Piece) -> pa.Table:
        """What the piece holds; a local file is mapped, not read."""
        if not piece.spilled:
            return payload_table(piece.payload)
        system, folder = locate(self.folder)
        with system.open_input_file(f"{folder}/{piece.spilled}") as file, pa.ipc.open_stream(file) as stream:
            return stream.read_all()

    def clear(self) -> None:
        delete_folder(self.folder)
