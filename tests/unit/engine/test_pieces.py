"""M1: what a landing file is taken apart into."""

from __future__ import annotations

import pytest

from moirae.engine.pieces import ARCHIVE, BAD, BUCKET, FILE, FileReader, Piece, payload_table
from moirae.errors import PlatformError
from moirae.lang import bind
from moirae.plan import plan_program
from moirae.ports.kernel import NO_WATERMARK
from moirae.testing import plain_rows

PACK = bind(
    """
    CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT, note STRING) ORDER BY at FROM LANDING 'traffic';
    CREATE STREAM logins (at TIMESTAMP, user STRING) ORDER BY at FROM LANDING 'logins';
    CREATE EVENT busy AS SELECT server, sum(bytes) AS b FROM traffic GROUP BY server, window(at, '1 minute');
    CREATE EVENT all_ AS SELECT count(*) AS n FROM traffic GROUP BY window(at, '1 minute');
    """
)
LINE = b'{"at": "1970-01-01T00:00:0%dZ", "server": "%b", "bytes": 1}\n'
GOOD = LINE % (5, b"a") + LINE % (9, b"b") + LINE % (7, b"a")


def read(content: bytes, path: str = "/landing/traffic/1.jsonl", buckets: int = 1) -> list[Piece]:
    reader = FileReader("/landing", PACK.streams, plan_program(PACK).operators, buckets)
    return list(reader.read(path, 42, content))


def of_kind(pieces: list[Piece], kind: str) -> list[Piece]:
    return [piece for piece in pieces if piece.kind == kind]


def test_the_file_itself_comes_first() -> None:
    """M1: with its lines counted, its newest time and its stream; nothing of its content."""
    head = read(GOOD + b"oops\n")[0]
    assert (head.kind, head.stream, head.path, head.file_time) == (FILE, "traffic", "/landing/traffic/1.jsonl", 42)
    assert (head.rows, head.newest, head.payload) == (4, 9_000_000, b"")


def test_archive_rows_keep_order_line_and_what_came_before() -> None:
    """M7: every column of the stream, whatever the queries read."""
    [archive] = of_kind(read(b"\n" + GOOD), ARCHIVE)
    table = payload_table(archive.payload)
    assert table.column_names == ["at", "server", "bytes", "note", "_line", "_before"]
    assert plain_rows(table.select(["at", "_line", "_before"])) == [
        [5_000_000, 2, NO_WATERMARK],
        [9_000_000, 3, 5_000_000],
        [7_000_000, 4, 9_000_000],
    ]


def test_each_operator_gets_only_the_columns_it_reads() -> None:
    """M1: one piece an operator and bucket."""
    pieces = {piece.operator: payload_table(piece.payload) for piece in of_kind(read(GOOD), BUCKET)}
    assert pieces["traffic(server)"].column_names == ["at", "server", "bytes", "_line", "_before"]
    assert pieces["traffic()"].column_names == ["at", "_line", "_before"]


def test_a_key_is_in_one_bucket_and_keeps_its_order() -> None:
    """M1: buckets together hold every row once."""
    pieces = [piece for piece in of_kind(read(GOOD, buckets=3), BUCKET) if piece.operator == "traffic(server)"]
    tables = [payload_table(piece.payload) for piece in pieces]
    assert len({piece.bucket for piece in pieces}) == len(pieces)
    assert sorted(table["server"].to_pylist() for table in tables) == [["a", "a"], ["b"]]
    assert sorted(table["_line"].to_pylist() for table in tables) == [[1, 3], [2]]


def test_lines_that_are_no_rows_are_kept_with_the_reason() -> None:
    """P4: and the good lines around them count."""
    pieces = read(GOOD + b"oops\n")
    [bad] = of_kind(pieces, BAD)
    [[line, text, reason]] = plain_rows(payload_table(bad.payload))
    assert (line, text) == (4, "oops")
    assert reason
    assert of_kind(pieces, ARCHIVE)[0].rows == 3


def test_a_file_of_blank_lines_has_a_head_and_nothing_else() -> None:
    """M1: it has come, and holds no time."""
    [head] = read(b"\n\n")
    assert (head.kind, head.rows, head.newest) == (FILE, 0, NO_WATERMARK)


def test_an_empty_file_is_refused_because_more_may_have_been_meant_to_come() -> None:
    """P4: a name is read once, so what is written into it later would be lost in silence."""
    head, bad = read(b"")
    assert (head.kind, head.rows) == (FILE, 1)
    [[line, text, reason]] = plain_rows(payload_table(bad.payload))
    assert (line, text) == (0, "")
    assert "rename" in str(reason)


@pytest.mark.parametrize("name", [".1.jsonl", "_1.jsonl", "1.jsonl.tmp"])
def test_a_file_still_being_written_has_no_pieces(name: str) -> None:
    """M1: it is read when it has its final name."""
    assert read(GOOD, f"/landing/traffic/{name}") == []


def test_a_file_nobody_reads_is_refused_whole() -> None:
    """P4: with its opening, and the names there are."""
    head, bad = read(b"\xff\xfe" + b"x" * 500, "/landing/trafic/1.jsonl")
    assert (head.kind, head.stream, head.rows) == (FILE, "trafic", 1)
    [[line, text, reason]] = plain_rows(payload_table(bad.payload))
    assert (line, len(text)) == (0, 200)
    assert reason.startswith("no stream reads from 'trafic' (streams read from: logins, traffic)")


def test_a_file_outside_the_landing_folder_is_refused() -> None:
    """P3: nobody reads what was not landed."""
    with pytest.raises(PlatformError, match="below the landing folder"):
        read(GOOD, "/elsewhere/traffic/1.jsonl")


def test_equal_bytes_have_one_digest_in_a_stream_and_another_in_the_next() -> None:
    """M1: the same bytes may well be news to another stream."""
    first, again, other = (
        read(GOOD, f"/landing/{path}")[0].sha256 for path in ("traffic/1.jsonl", "traffic/2.jsonl", "logins/1.jsonl")
    )
    assert first == again != other
    assert read(GOOD + b"\n")[0].sha256 != first


def test_a_piece_knows_the_size_of_what_it_carries() -> None:
    """M1: so that work can be dealt out, and large payloads kept elsewhere."""
    pieces = read(GOOD + b"oops\n")
    assert [piece.size for piece in pieces] == [len(piece.payload) for piece in pieces]
    assert all(piece.size for piece in pieces[1:])


def test_a_file_that_was_taken_away_is_refused_and_not_forgotten() -> None:
    """P3: it was listed; nobody knows what it held."""
    reader = FileReader("/landing", PACK.streams, plan_program(PACK).operators, 1)
    head, bad = reader.gone("/landing/traffic/1.jsonl", 42)
    assert (head.kind, head.stream, head.rows, head.newest) == (FILE, "traffic", 1, NO_WATERMARK)
    [[line, _, reason]] = plain_rows(payload_table(bad.payload))
    assert (line, reason) == (0, "the file was gone before it was read; land it again")
