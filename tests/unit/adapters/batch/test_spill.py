"""Payloads between the passes of a batch."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from moirae.adapters.batch import spill as module
from moirae.adapters.batch.spill import Spill
from moirae.engine.blob import ipc_bytes
from moirae.engine.pieces import ARCHIVE, Piece


def piece(*values: int) -> Piece:
    payload = ipc_bytes(pa.table({"x": pa.array(values, pa.int64())}))
    return Piece(ARCHIVE, "s", "p", 0, "", len(values), payload=payload, size=len(payload))


def values(spill: Spill, kept: Piece) -> list[int]:
    found: list[int] = spill.rows(kept)["x"].to_pylist()
    return found


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_small_payloads_stay_where_they_are(tmp_path: Path) -> None:
    """P2: a batch of a few rows touches no file."""
    spill = Spill(f"{tmp_path}/s")
    assert spill.put(piece(1)) == piece(1)
    assert values(spill, piece(1, 2)) == [1, 2]
    assert files(tmp_path) == []


def test_large_payloads_are_found_again(tmp_path: Path) -> None:
    """P2: each under a name of its own, in a folder whose name may hold a blank."""
    spill = Spill(f"{tmp_path}/a b", inline=0)
    first, second = spill.put(piece(1, 2)), spill.put(piece(3))
    assert (first.payload, first.spilled != second.spilled) == (b"", True)
    assert [values(spill, each) for each in (first, second, first)] == [[1, 2], [3], [1, 2]]


def test_files_of_an_ended_batch_are_used_again_and_show_nothing_of_it(tmp_path: Path) -> None:
    """P2: a shorter payload in a file that held a longer one is only itself."""
    spill = Spill(f"{tmp_path}/s", inline=0)
    spill.put(piece(*range(1000)))
    spill.clear()
    again = spill.put(piece(7))
    assert values(spill, again) == [7]
    assert files(tmp_path) == [again.spilled]


def test_a_file_in_use_is_not_taken(tmp_path: Path) -> None:
    """P2: only what a clear has freed is written over."""
    spill = Spill(f"{tmp_path}/s", inline=0)
    spill.put(piece(1))
    spill.clear()
    kept = [spill.put(piece(number)) for number in range(3)]
    assert [values(spill, each) for each in kept] == [[0], [1], [2]]


def test_what_is_kept_for_later_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P2: one large batch does not hold its space for ever."""
    monkeypatch.setattr(module, "_KEPT_BYTES", 3 * piece(1).size)
    spill = Spill(f"{tmp_path}/s", inline=0)
    for number in range(10):
        spill.put(piece(number))
    spill.clear()
    assert len(files(tmp_path)) == 3
