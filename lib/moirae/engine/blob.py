"""State of a bucket as bytes: a version, a directory, then one Arrow stream a section. Never pickle.

An older platform refuses a newer state instead of misreading it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from moirae.errors import MoiraeError

MAGIC = b"MOIRAE"
VERSION = 1


def pack_sections(sections: Mapping[str, pa.Table]) -> bytes:
    bodies = {name: ipc_bytes(table) for name, table in sections.items()}
    directory = json.dumps([[name, len(body)] for name, body in bodies.items()]).encode()
    head = MAGIC + VERSION.to_bytes(2, "little") + len(directory).to_bytes(4, "little")
    return b"".join([head, directory, *bodies.values()])


def unpack_sections(blob: bytes) -> dict[str, pa.Table]:
    """
    >>> unpack_sections(pack_sections({"a": pa.table({"x": [1]})}))["a"].to_pydict()
    {'x': [1]}
    """
    if blob[:6] != MAGIC:
        raise MoiraeError("state: expected a Moirae state, but found other bytes; restore the state folder")
    version = int.from_bytes(blob[6:8], "little")
    if version != VERSION:
        raise MoiraeError(f"state: expected version {VERSION}, but found {version}; run the release that wrote it")
    at = 12 + int.from_bytes(blob[8:12], "little")
    sections = {}
    view = memoryview(blob)
    for name, size in json.loads(blob[12:at]):
        sections[name] = read_ipc(view[at : at + size])
        at += size
    return sections


def ipc_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_ipc(data: bytes | memoryview) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
