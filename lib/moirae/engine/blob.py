"""State of a bucket as bytes: a version, a checksum, a directory, then one Arrow stream a section. Never pickle.

An older platform refuses a newer state instead of misreading it, and nobody reads a damaged one: a flipped bit in a
register would be a wrong answer for as long as its window lives.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

import pyarrow as pa

from moirae.errors import MoiraeError

MAGIC = b"MOIRAE"
VERSION = 2
_BODY = len(MAGIC) + 2 + 4  # behind the version (2 bytes) and the checksum (4)


def pack_sections(sections: Mapping[str, pa.Table]) -> bytes:
    bodies = {name: ipc_bytes(table) for name, table in sections.items()}
    directory = json.dumps([[name, len(body)] for name, body in bodies.items()]).encode()
    content = b"".join([len(directory).to_bytes(4, "little"), directory, *bodies.values()])
    return b"".join([MAGIC, VERSION.to_bytes(2, "little"), zlib.crc32(content).to_bytes(4, "little"), content])


def unpack_sections(blob: bytes) -> dict[str, pa.Table]:
    """
    >>> unpack_sections(pack_sections({"a": pa.table({"x": [1]})}))["a"].to_pydict()
    {'x': [1]}
    """
    content = _checked(blob)
    at = 4 + int.from_bytes(content[:4], "little")
    sections = {}
    for name, size in json.loads(bytes(content[4:at])):
        sections[name] = read_ipc(content[at : at + size])
        at += size
    return sections


def _checked(blob: bytes) -> memoryview:
    """What stands behind the head, once the head says that it can be read."""
    if not blob.startswith(MAGIC) or len(blob) < _BODY:
        raise MoiraeError("state: expected a Moirae state, but found other bytes; restore the state folder")
    version = int.from_bytes(blob[6:8], "little")
    if version != VERSION:
        raise MoiraeError(f"state: expected version {VERSION}, but found {version}; run the release that wrote it")
    content = memoryview(blob)[_BODY:]
    if zlib.crc32(content) != int.from_bytes(blob[8:_BODY], "little"):
        raise MoiraeError("state: expected the bytes once written, but found damaged ones; restore the state folder")
    return content


def ipc_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_ipc(data: bytes | memoryview) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
