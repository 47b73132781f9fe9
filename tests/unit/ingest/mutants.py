"""Lines with a few bytes spoilt, and whether the quick way agrees with the careful way about them."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from moirae.ingest.lines import BLANK, blocks, readable
from moirae.ingest.reader import LINE, Reader

_BYTES = [bytes([byte]) for byte in b"\"\\{}[],:truefalsn0123456789+-.eEuUdD89abAB \t\r\n\x00\x1f\x7fTZ'/"]
_PIECES = [*_BYTES, b"null", b'""', b"\\u", b"\\ud83d", b"\\ude00", "\u00e9".encode(), b"\xc3", b"\xa9", b"1" * 17]


def mutants(lines: list[bytes], count: int, draw: Random) -> list[bytes]:
    """Lines with up to three places where something is put in, left out, replaced or said twice."""
    return [_mutant(draw.choice(lines), draw) for _ in range(count)]


def _mutant(line: bytes, draw: Random) -> bytes:
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        place = draw.randrange(len(line) + 1)
        size = draw.choice([0, 1, 1, 1, draw.randrange(12)])
        piece = draw.choice([b"", line[place : place + size] * 2, draw.choice(_PIECES), draw.choice(_PIECES)])
        line = line[:place] + piece + line[place + size :]
    return line


def taken_alike(reader: Reader, lines: list[bytes]) -> int:
    """How many lines the quick way takes, all of them with the careful way's values."""
    content = b"".join(line + b"\n" for line in lines)
    taken = 0
    for block in blocks(memoryview(content)):
        text, _ = readable(block)
        rows, rest = reader.quick(text)
        numbers = rows.column(LINE).to_pylist()
        assert sorted([*numbers, *rest.number.tolist()]) == text.number.tolist(), "each line goes one way"
        found = dict(zip(numbers, _spelled(rows), strict=True))
        for number, line in zip(text.number.tolist(), text.text.to_pylist(), strict=True):
            if number in found:
                assert line.strip(BLANK), "a blank line is no row"
                assert found[number] == repr(reader.careful(line)), line
        taken += len(found)
    return taken


def _spelled(rows: pa.Table) -> list[str]:
    """The rows as the careful way makes them."""
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in rows.columns]
    return [repr(row) for row in zip(*(column.to_pylist() for column in columns[:-1]), strict=True)]
