"""Payloads too large to travel with the tasks stand in files that last as long as their batch.

On this machine a file is used again, written over from its beginning: pages that were in use a moment ago cost a
twentieth of new ones. An Arrow stream says itself where it ends, so what an older payload left behind it is not seen.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from moirae.adapters.storage import delete_folder, locate
from moirae.engine.pieces import Piece, payload_table

_KEPT_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Spill:
    """A folder all tasks can reach; payloads up to `inline` bytes stay where they are."""

    folder: str
    inline: int = 64 << 10

    def put(self, piece: Piece) -> Piece:
        if piece.size <= self.inline:
            return piece
        system, folder = locate(self.folder)
        if isinstance(system, fs.LocalFileSystem):
            name = _overwrite(Path(folder), piece.payload)
        else:
            name = uuid.uuid4().hex
            with system.open_output_stream(f"{folder}/{name}") as file:
                file.write(piece.payload)
        return replace(piece, payload=b"", spilled=name)

    def rows(self, piece: Piece) -> pa.Table:
        """What the piece holds; a local file is mapped, not read, so the rows last as long as the batch."""
        if not piece.spilled:
            return payload_table(piece.payload)
        system, folder = locate(self.folder)
        with system.open_input_file(f"{folder}/{piece.spilled}") as file, pa.ipc.open_stream(file) as stream:
            return stream.read_all()

    def clear(self) -> None:
        """The batch has ended: nobody reads its payloads any more."""
        system, folder = locate(self.folder)
        if isinstance(system, fs.LocalFileSystem):
            _set_free(Path(folder))
        else:
            delete_folder(self.folder)


def _overwrite(folder: Path, payload: bytes) -> str:
    name = uuid.uuid4().hex
    if not _claim(folder, name):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    with (folder / name).open("r+b") as file:
        file.write(payload)
    return name


def _claim(folder: Path, name: str) -> bool:
    """Take a free file under a name of our own; whoever renames it first has it."""
    try:
        free = os.listdir(folder / "free")
    except FileNotFoundError:
        return False
    for each in free:
        try:
            (folder / "free" / each).rename(folder / name)
        except FileNotFoundError:
            continue
        return True
    return False


def _set_free(folder: Path) -> None:
    if not folder.is_dir():
        return
    (folder / "free").mkdir(exist_ok=True)
    for file in folder.iterdir():
        if file.is_file():
            file.rename(folder / "free" / file.name)
    kept = 0
    for file in (folder / "free").iterdir():
        kept += file.stat().st_size
        if kept > _KEPT_BYTES:
            file.unlink()
