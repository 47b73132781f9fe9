"""Names of landing files."""

from __future__ import annotations

import pytest

from moirae.errors import PlatformError
from moirae.ingest import is_waiting, stream_of


@pytest.mark.parametrize(
    "name", [".a.jsonl.tmp", ".a.csv", "_a.csv", "a.csv.tmp", "a.PART", "a.partial", "a.crdownload", "a.swp", "a.csv~"]
)
def test_a_half_written_file_is_waited_for(name: str) -> None:
    """P3: a file is read once it has its own name."""
    assert is_waiting(name)
    assert is_waiting(f"/landing/traffic/{name}")


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tmp.csv", "part-0001.jsonl", "a_b.json.gz", "/home/.hidden/landing/a.csv"]
)
def test_a_finished_file_is_not(name: str) -> None:
    """P3: only the file's own name counts, not the folders above."""
    assert not is_waiting(name)


@pytest.mark.parametrize(
    ("path", "root", "stream"),
    [
        ("/landing/traffic/a.csv", "/landing", "traffic"),
        ("/landing/TRAFFIC/2026/01/a.csv", "/landing/", "traffic"),
        ("/landing/traffic.csv", "/landing", "traffic"),
        ("/landing/Traffic-20260706T000001.577732-000000.jsonl", "/landing", "traffic"),
        ("file:/landing/logins/a.csv", "/landing", "logins"),
        ("file:///my%20data/logins/a.csv", "file:///my%20data", "logins"),
        ("s3a://bucket/landing/traffic/a.csv", "s3a://bucket/landing", "traffic"),
    ],
)
def test_a_file_feeds_the_stream_of_its_folder(path: str, root: str, stream: str) -> None:
    """P4: the first folder below the landing folder, or the beginning of the file's name."""
    assert stream_of(path, root) == stream


@pytest.mark.parametrize("path", ["/landing2/traffic/a.csv", "/landing", "/landing/", "traffic/a.csv"])
def test_a_file_elsewhere_is_refused(path: str) -> None:
    """P4: with what to do about it."""
    with pytest.raises(PlatformError, match="expected a file below the landing folder /landing"):
        stream_of(path, "/landing")
