"""Inputs of a run put into a landing folder of its own, so that a run reads as the platform does.

An input is cut into a few files, always in the same way: engines that work batch by batch then have several batches,
and all engines see the same positions, which are part of some events' ids.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from moirae.errors import MoiraeError
from moirae.ingest.names import CSV, READABLE, format_of
from moirae.model.json_text import json_objects
from moirae.model.query import Pack, StreamDef

FILES_OF_AN_INPUT = 4


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of an input as a file; line n of it is line n + `before` of the input."""

    stream: str
    path: Path
    before: int


@dataclass(frozen=True, slots=True)
class Landed:
    """Files in order of arrival; each carries the second of its place as its time."""

    folder: str
    parts: tuple[Part, ...]

    @property
    def files(self) -> tuple[tuple[str, int], ...]:
        """Paths and times (microseconds)."""
        return tuple((str(part.path), second * 1_000_000) for second, part in enumerate(self.parts, start=1))


def land_inputs(pack: Pack, inputs: Mapping[str, Any], folder: Path) -> Landed:
    """Write the inputs of the pack's streams below `folder`."""
    parts = []
    for stream in pack.streams:
        if stream.name in inputs:
            place = folder / (stream.source_name or stream.name)
            if place.exists():
                problem = f"stream '{stream.name}': expected a landing folder of its own, but '{place.name}' is taken"
                raise MoiraeError(f"{problem}; write another name behind FROM LANDING")
            place.mkdir(parents=True)
            for name, content, before in _parts(stream, inputs[stream.name]):
                (place / name).write_bytes(content)
                parts.append(Part(stream.name, place / name, before))
    for second, part in enumerate(parts, start=1):
        os.utime(part.path, (second, second))
    return Landed(str(folder), tuple(parts))


def _parts(stream: StreamDef, given: Any) -> list[tuple[str, bytes, int]]:
    """Name, content and the number of the input's lines before it, a header that is repeated not counted."""
    if isinstance(given, str | Path):
        return _file_parts(stream, Path(given))
    table = given if isinstance(given, pa.Table) else pa.Table.from_pandas(given, preserve_index=False)
    table = table.rename_columns([name.lower() for name in table.column_names])
    known = table.select([name for name in stream.schema.names if name in table.column_names])
    lines = "\n".join(json_objects(known).to_pylist()).encode()
    return _cut("input.jsonl", b"", lines)


def _file_parts(stream: StreamDef, path: Path) -> list[tuple[str, bytes, int]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"input '{stream.name}': expected a file at {path}, but found none ({error.strerror})"
        raise MoiraeError(f"{problem}; check the path") from error
    format_, compressed = format_of(path.name)
    if format_ is None:
        raise MoiraeError(
            f"input '{stream.name}': expected a file that ends in {READABLE}, but found {path.name}; rename it"
        )
    if compressed or (format_ == CSV and b'"' in content):
        return [(f"0-{path.name}", content, 0)]  # lines of such a file cannot be told from the outside
    header = _header(content) if format_ == CSV else b""
    return _cut(path.name, header, content[len(header) :])


def _header(content: bytes) -> bytes:
    """The first line that is not blank, with the blank ones before it: every part of the file begins with it.

    >>> _header(b"\\nat,bytes\\n1,2\\n")
    b'\\nat,bytes\\n'
    """
    blank = len(content) - len(content.lstrip())
    end = content.find(b"\n", blank) + 1
    return content[:end]


def _cut(name: str, header: bytes, content: bytes) -> list[tuple[str, bytes, int]]:
    """
    >>> _cut("a.csv", b"x\\n", b"1\\n2\\n3\\n4\\n5")[:2]
    [('0-a.csv', b'x\\n1\\n', 0), ('1-a.csv', b'x\\n2\\n', 1)]
    """
    parts = []
    begin = 0
    for number in range(FILES_OF_AN_INPUT):
        target = len(content) * (number + 1) // FILES_OF_AN_INPUT
        end = len(content) if number == FILES_OF_AN_INPUT - 1 else content.find(b"\n", max(target - 1, begin)) + 1
        end = len(content) if end == 0 else end
        if end > begin:
            parts.append((f"{number}-{name}", header + content[begin:end], content.count(b"\n", 0, begin)))
        begin = max(begin, end)
    return parts
