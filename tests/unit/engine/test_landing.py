"""M1: inputs of a run become landing files, cut the same way for every engine."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from moirae.engine.landing import land_inputs
from moirae.errors import MoiraeError
from moirae.ingest import parse_file
from moirae.lang import bind
from moirae.model.schema import Type
from moirae.testing import plain_rows

PACK = bind(
    """
    CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at FROM LANDING 'net';
    CREATE STREAM logins (at TIMESTAMP, user STRING) ORDER BY at FROM LANDING 'logins';
    """
)
ROWS = [[second * 1_000_000, f"s{second}", second] for second in range(8)]
LINES = "".join(f"1970-01-01T00:00:0{second}Z,s{second},{second}\n" for second in range(8))
HEADER = "at,server,bytes\n"


def land(tmp_path: Path, given: Any) -> list[Path]:
    return [Path(path) for path, _ in land_inputs(PACK, {"traffic": given}, tmp_path / "landing").files]


def write(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(files: list[Path]) -> list[list[Any]]:
    """The rows of all files, and no line refused."""
    found = []
    for file in files:
        parsed = parse_file(file.read_bytes(), file.name, PACK.streams[0], file_time_us=0)
        assert parsed.bad.num_rows == 0, plain_rows(parsed.bad)
        found += plain_rows(parsed.rows.drop_columns(["_line"]))
    return found


@pytest.mark.parametrize(
    "content",
    [
        HEADER + LINES,
        (HEADER + LINES).rstrip("\n"),
        (HEADER + LINES).replace("\n", "\r\n"),
        "\ufeff" + HEADER + LINES,
        "\n \r\n" + HEADER + LINES,
        HEADER + LINES.replace("\n", "\n\n"),
    ],
    ids=["plain", "no last newline", "windows", "byte order mark", "blank first", "blank between"],
)
def test_every_part_of_a_csv_file_has_its_header(tmp_path: Path, content: str) -> None:
    """M1: no row is lost, doubled or taken for a header where the file is cut."""
    files = land(tmp_path, write(tmp_path, "in.csv", content))
    assert [file.name for file in files] == ["0-in.csv", "1-in.csv", "2-in.csv", "3-in.csv"]
    assert read(files) == ROWS


def test_json_lines_are_cut_between_lines(tmp_path: Path) -> None:
    """M1: put together again, the parts are the file."""
    lines = "".join(f'{{"at": "1970-01-01T00:00:0{s}Z", "server": "s{s}", "bytes": {s}}}\n' for s in range(8))
    files = land(tmp_path, write(tmp_path, "in.jsonl", lines))
    assert len(files) == 4
    assert "".join(file.read_text() for file in files) == lines
    assert read(files) == ROWS


def test_a_line_longer_than_the_rest_is_not_cut(tmp_path: Path) -> None:
    """M1: there are fewer parts then."""
    lines = f'{{"at": 0, "server": "{"x" * 500}"}}\n{{"at": 1, "server": "y"}}\n'
    files = land(tmp_path, write(tmp_path, "in.jsonl", lines))
    assert "".join(file.read_text() for file in files) == lines
    assert len(files) == 2


@pytest.mark.parametrize("name", ["quoted.csv", "packed.csv.gz"])
def test_a_file_whose_lines_cannot_be_told_stays_whole(tmp_path: Path, name: str) -> None:
    """M1: a quoted field may hold anything, and compressed bytes have no lines."""
    text = (HEADER + LINES).replace("s1", '"s1"').encode()
    files = land(tmp_path, write(tmp_path, name, gzip.compress(text) if name.endswith(".gz") else text))
    assert [file.name for file in files] == [f"0-{name}"]
    assert read(files) == ROWS


def test_files_arrive_in_their_order(tmp_path: Path) -> None:
    """M1: by the times they carry, which the file system shows too; streams one after the other."""
    traffic, logins = write(tmp_path, "t.csv", HEADER + LINES), write(tmp_path, "l.csv", "at,user\n" + "0,u\n" * 8)
    landed = land_inputs(PACK, {"logins": logins, "traffic": traffic}, tmp_path / "landing")
    assert landed.folder == str(tmp_path / "landing")
    assert [Path(path).parent.name for path, _ in landed.files] == ["net"] * 4 + ["logins"] * 4
    assert [time for _, time in landed.files] == [second * 1_000_000 for second in range(1, 9)]
    assert [os.stat(path).st_mtime_ns // 1000 for path, _ in landed.files] == [time for _, time in landed.files]


TABLE = pa.table(
    {
        "Bytes": pa.array(range(8), pa.int32()),
        "AT": pa.array([row[0] for row in ROWS], Type.TIMESTAMP.arrow),
        "server": pa.array([f"s{i}" for i in range(8)], pa.large_string()),
        "unknown": pa.array([[i] for i in range(8)]),
    }
)


@pytest.mark.parametrize("given", [TABLE, TABLE.to_pandas()], ids=["arrow", "pandas"])
def test_tables_land_as_the_stream_reads_them(tmp_path: Path, given: Any) -> None:
    """M1: columns by name in any case and order; those the stream does not know are left out."""
    assert read(land(tmp_path, given)) == ROWS


def test_what_pandas_makes_of_the_values_does_not_matter(tmp_path: Path) -> None:
    """M1: times in nanoseconds, categories, and NaN where a number is missing."""
    frame = pd.DataFrame(
        {
            "at": pd.to_datetime(["1970-01-01 00:00:00.000001999", "1970-01-01 00:00:01.000000000"]),
            "server": pd.Categorical(["a", None]),
            "bytes": [3, None],
        }
    )
    assert read(land(tmp_path, frame)) == [[1, "a", 3], [1_000_000, None, None]]


@pytest.mark.parametrize("content", ["", HEADER], ids=["empty", "header"])
def test_an_input_without_rows_is_fine(tmp_path: Path, content: str) -> None:
    """M1: the stream is there, nothing comes."""
    assert land(tmp_path, write(tmp_path, "in.csv", content)) == []
    assert (tmp_path / "landing" / "net").is_dir()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """M1: with the stream it was for."""
    with pytest.raises(MoiraeError, match=r"input 'traffic': expected a file at .*nowhere\.csv, but found none"):
        land(tmp_path, tmp_path / "nowhere.csv")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """M1: by its name, with the names that can be read."""
    with pytest.raises(MoiraeError, match=r"ends in \.jsonl, .*but found in\.xlsx; rename it"):
        land(tmp_path, write(tmp_path, "in.xlsx", "x"))


def test_two_streams_cannot_share_a_landing_folder(tmp_path: Path) -> None:
    """M1: nobody could tell whose rows they are."""
    stream = "CREATE STREAM {} (at TIMESTAMP) ORDER BY at FROM LANDING 'here';"
    pack = bind(stream.format("a") + stream.format("b"))
    given = write(tmp_path, "in.csv", "at\n0\n")
    with pytest.raises(MoiraeError, match="stream 'b': expected a landing folder of its own, but 'here' is taken"):
        land_inputs(pack, {"a": given, "b": given}, tmp_path / "landing")
