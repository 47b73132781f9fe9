"""M1: where files and rows stand in the order of arrival."""

from __future__ import annotations

import pyarrow as pa

from moirae.engine.pieces import FILE, Piece
from moirae.engine.placing import Placement, Standing, archive_schema, line_of, place_files, take_rows
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type
from moirae.ports.kernel import NO_WATERMARK
from moirae.testing import plain_rows

STREAM = StreamDef("s", Schema.of(at=Type.TIMESTAMP, server=Type.STRING), "at", lateness_us=10, source_name="s")


def file(path: str, time: int, newest: int = 0, sha256: str = "", stream: str = "s", rows: int = 1) -> Piece:
    return Piece(FILE, stream, path, time, sha256 or path, rows, newest)


def ordinals(placements: dict[str, Placement]) -> dict[str, int]:
    return {path: placement.ordinal for path, placement in placements.items()}


def test_files_are_ordered_by_time_then_path() -> None:
    """M1: however the folder was listed."""
    placements, _ = place_files([file("b", 2), file("z", 1), file("a", 2)], Standing(), {})
    assert ordinals(placements) == {"z": 0, "a": 1, "b": 2}


def test_ordinals_go_on_from_batch_to_batch() -> None:
    """M1: an old file that comes in a later batch arrives later, whatever time it carries."""
    _, standing = place_files([file("a", 1), file("b", 2)], Standing(), {})
    placements, standing = place_files([file("c", 0)], standing, {})
    assert ordinals(placements) == {"c": 2}
    assert standing.ordinals == {"s": 3}


def test_each_stream_counts_for_itself() -> None:
    """M1: another stream's files change neither ordinals nor watermarks."""
    files = [file("a", 1, 100), file("b", 2, 7, stream="other"), file("c", 3, 50)]
    placements, standing = place_files(files, Standing(), {})
    assert ordinals(placements) == {"a": 0, "b": 0, "c": 1}
    assert standing == Standing({"s": 2, "other": 1}, {"s": 100, "other": 7})


def test_a_file_is_told_the_newest_time_before_it() -> None:
    """M1: from earlier files of the batch and from earlier batches; an older file does not lower it."""
    files = [file("a", 1, 100), file("b", 2, 50), file("c", 3, 200)]
    placements, standing = place_files(files, Standing(), {})
    assert [placements[path].newest_before for path in "abc"] == [NO_WATERMARK, 100, 100]
    placements, _ = place_files([file("d", 4, 1)], standing, {})
    assert placements["d"].newest_before == 200


def test_a_file_without_rows_moves_no_time() -> None:
    """M1: it has a place, and that is all."""
    placements, standing = place_files([file("a", 1, 100), file("b", 2, NO_WATERMARK, rows=0)], Standing(), {})
    assert placements["b"] == Placement(1, 100)
    assert standing.newest == {"s": 100}


def test_the_same_content_counts_once_in_a_batch() -> None:
    """M1: the first in order of arrival is the one that counts, and the next file takes the next ordinal."""
    files = [file("a", 3, 100, "same"), file("b", 1, 100, "same"), file("c", 4)]
    placements, standing = place_files(files, Standing(), {})
    assert placements["b"].duplicate_of == ""
    assert placements["a"].duplicate_of == "b"
    assert (placements["c"].ordinal, standing.ordinals) == (1, {"s": 2})


def test_the_same_content_counts_once_in_all_batches() -> None:
    """M1: under another name, or dropped a second time under its own."""
    placements, standing = place_files([file("new", 9, 500, "x"), file("old", 9, 500, "y")], Standing(), {"x": "old"})
    assert placements["new"].duplicate_of == "old"
    assert placements["old"].duplicate_of == ""
    placements, standing = place_files([file("old", 10, 500, "x")], standing, {"x": "old"})
    assert placements["old"].duplicate_of == "old"
    assert standing.ordinals == {"s": 1}


def test_a_duplicate_does_not_move_the_newest_time() -> None:
    """M1: what does not count cannot make others late."""
    _, standing = place_files([file("a", 1, 900, "x")], Standing({"s": 4}, {"s": 100}), {"x": "before"})
    assert standing == Standing({"s": 4}, {"s": 100})


def test_empty_files_are_no_duplicates_of_each_other() -> None:
    """M1: they all have the same content, namely none."""
    files = [file("a", 1, sha256="none", rows=0), file("b", 2, sha256="none", rows=0)]
    placements, _ = place_files(files, Standing(), {})
    assert [placement.duplicate_of for placement in placements.values()] == ["", ""]


def test_parts_of_one_input_may_be_equal() -> None:
    """M1: with no memory of contents nothing is a duplicate."""
    placements, _ = place_files([file("a", 1, sha256="x"), file("b", 2, sha256="x")], Standing(), None)
    assert ordinals(placements) == {"a": 0, "b": 1}
    assert not any(placement.duplicate_of for placement in placements.values())


def rows(*times: int) -> pa.Table:
    before = [NO_WATERMARK, *(max(times[:i]) for i in range(1, len(times)))]
    return pa.table(
        {
            "at": pa.array(times, Type.TIMESTAMP.arrow),
            "server": pa.array(["x"] * len(times)),
            "_line": pa.array(range(1, len(times) + 1), pa.int64()),
            "_before": pa.array(before[: len(times)], pa.int64()),
        }
    )


def test_a_position_is_ordinal_and_line() -> None:
    """M1: so positions grow with arrival, and tell where a row stands in its file."""
    kept, late = take_rows(rows(5, 6), Placement(3, NO_WATERMARK), "at", 10)
    assert kept["_pos"].to_pylist() == [(3 << 32) + 1, (3 << 32) + 2]
    assert [line_of(position) for position in kept["_pos"].to_pylist()] == [1, 2]
    assert late.num_rows == 0


def test_rows_come_out_as_they_are_archived() -> None:
    """M7: the stream's columns and the position, in time or late."""
    for part in take_rows(rows(100, 89), Placement(0, NO_WATERMARK), "at", 10):
        assert part.schema == archive_schema(STREAM)
        assert part.num_rows == 1


def test_late_rows_keep_their_own_positions() -> None:
    """M1: judged by what came before in the file and before the file."""
    kept, late = take_rows(rows(100, 80, 95), Placement(1, 105), "at", 10)
    assert plain_rows(kept.select(["at"])) == [[100], [95]]
    assert plain_rows(late.select(["at", "_pos"])) == [[80, (1 << 32) + 2]]


def test_a_duplicate_file_gives_no_rows() -> None:
    """M1: neither kept nor late."""
    kept, late = take_rows(rows(100, 1), Placement(1, 105, "first.jsonl"), "at", 10)
    assert (kept.num_rows, late.num_rows) == (0, 0)
