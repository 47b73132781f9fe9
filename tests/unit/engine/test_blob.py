"""M1: a state is read back as it was written, or refused in words."""

from __future__ import annotations

import pyarrow as pa
import pytest

from moirae.engine.blob import MAGIC, VERSION, ipc_bytes, pack_sections, read_ipc, unpack_sections
from moirae.errors import MoiraeError

TABLE = pa.table({"x": [1, None, 3], "s": ["a", "é", None]})
BLOB = pack_sections({"keys": TABLE, "waiting": TABLE.slice(0, 0)})


def test_sections_come_back_by_name() -> None:
    """M1: with their types, NULLs and metadata, and empty ones too."""
    noted = TABLE.replace_schema_metadata({b"watermark": b"7"})
    found = unpack_sections(pack_sections({"keys": TABLE, "none": TABLE.slice(0, 0), "query a@1": noted}))
    assert list(found) == ["keys", "none", "query a@1"]
    assert found["keys"].equals(TABLE)
    assert found["none"].schema == TABLE.schema
    assert found["query a@1"].schema.metadata == {b"watermark": b"7"}


def test_the_same_state_gives_the_same_bytes() -> None:
    """M1: a replayed batch writes the file it wrote before."""
    assert pack_sections({"keys": TABLE, "waiting": TABLE.slice(0, 0)}) == BLOB


def test_another_version_is_refused_by_number() -> None:
    """M1: an older platform never misreads a newer state."""
    newer = MAGIC + (VERSION + 1).to_bytes(2, "little") + BLOB[len(MAGIC) + 2 :]
    with pytest.raises(MoiraeError, match=rf"expected version {VERSION}, but found {VERSION + 1}; run the release"):
        unpack_sections(newer)


@pytest.mark.parametrize("other", [b"", b"PK\x03\x04 a zip file", b"MOIRA", MAGIC, MAGIC + b"\x02\x00"], ids=repr)
def test_bytes_of_something_else_are_refused(other: bytes) -> None:
    """M1: an empty file is no state either, and neither is half a head."""
    with pytest.raises(MoiraeError, match="expected a Moirae state, but found other bytes; restore the state folder"):
        unpack_sections(other)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_state_cut_short_is_refused(kept: float) -> None:
    """M1: a disk that filled up must not look like keys that fell silent."""
    with pytest.raises(MoiraeError, match="damaged"):
        unpack_sections(BLOB[: max(int(len(BLOB) * kept), 12)])


def test_a_flipped_bit_is_refused_wherever_it_is() -> None:
    """M1: in the directory, in a section's head or in the very numbers."""
    for place in range(8, len(BLOB), 7):
        damaged = bytearray(BLOB)
        damaged[place] ^= 4
        with pytest.raises(MoiraeError, match="damaged"):
            unpack_sections(bytes(damaged))


def test_something_behind_the_end_is_refused() -> None:
    """M1: two states in one file are no state."""
    with pytest.raises(MoiraeError, match="damaged"):
        unpack_sections(BLOB + BLOB)


def test_a_table_travels_as_arrow_bytes() -> None:
    """M1: pieces carry their rows like this; chunks of a table are one table again."""
    pieces = pa.concat_tables([TABLE, TABLE.slice(1)])
    assert read_ipc(ipc_bytes(pieces)).equals(pieces)
    assert read_ipc(ipc_bytes(TABLE.slice(0, 0))).num_rows == 0
