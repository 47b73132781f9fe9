"""A file as columns of lines, cut without copying and without a step per line.

A line ends with its newline, as in the file. Only "\\n" ends one: a lone "\\r" or a Unicode separator is text. Line
numbers begin at 1 and count every line, blank or not, so that an editor shows the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

BLOCK = 8 << 20  # bytes: a block stays near the cache, and what it cannot do the quick way concerns it alone
_PIECE = 256 << 10  # bytes that stay in the cache while line ends are looked for
TEXT_LIMIT = 4096  # bytes of a bad line that are kept
BLANK = " \t\r\n"
_BOM = b"\xef\xbb\xbf"

Bytes = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines (large_binary or large_string, line ends included) and their numbers in the file."""

    text: pa.Array
    number: I64

    def __len__(self) -> int:
        return len(self.number)

    def keep(self, mask: Mask) -> Lines:
        return self if mask.all() else Lines(self.text.filter(pa.array(mask)), self.number[mask])

    def bytes_and_bounds(self) -> tuple[Bytes, I64]:
        """The bytes the lines lie in, and where in them each begins and the last one ends.

        Never to be written to, wherever they come from: so a compiled loop sees one type, and compiles once.
        """
        _, offsets, data = self.text.buffers()
        bounds = np.frombuffer(offsets or b"", np.int64)[self.text.offset : self.text.offset + len(self) + 1]
        content = np.frombuffer(data or b"", np.uint8)
        content.flags.writeable = bounds.flags.writeable = False
        return content, bounds


def without_mark(content: bytes) -> memoryview:
    """The content behind a byte order mark."""
    return memoryview(content)[len(_BOM) if content.startswith(_BOM) else 0 :]


def blocks(content: memoryview, first_line: int = 1, size: int = BLOCK) -> Iterator[Lines]:
    """Whole lines in pieces of about `size` bytes (a longer line is a piece of its own), as large_binary.

    >>> [[line.as_py() for line in block.text] for block in blocks(memoryview(b"a\\nbcd\\n\\ne"), size=3)]
    [[b'a\\n'], [b'bcd\\n'], [b'\\n', b'e']]
    """
    ends = _line_ends(np.frombuffer(content, dtype=np.uint8))
    done, start = 0, 0
    while start < len(content):
        last = max(int(np.searchsorted(ends, start + size, side="right")), done + 1)
        offsets = np.concatenate([[start], ends[done:last]]).astype(np.int64)
        yield _lines(content, offsets, first_line + done)
        done, start = last, int(offsets[-1])


def _line_ends(data: Bytes) -> I64:
    """The places behind all lines, looked for piece by piece: fresh memory as large as the file would cost more."""
    pieces = [np.flatnonzero(data[at : at + _PIECE] == ord("\n")) + at + 1 for at in range(0, len(data), _PIECE)]
    ends = np.concatenate([np.empty(0, np.int64), *pieces])
    return ends if len(ends) and ends[-1] == len(data) else np.append(ends, len(data))


def _lines(content: memoryview, offsets: I64, first_line: int) -> Lines:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    text = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    return Lines(text, np.arange(first_line, first_line + len(text), dtype=np.int64))


def readable(lines: Lines) -> tuple[Lines, Lines]:
    """The lines that are UTF-8, as large_string, and those that are not."""
    try:
        return Lines(lines.text.cast(pa.large_string()), lines.number), _none(lines)
    except pa.ArrowInvalid:
        valid = np.fromiter(map(_is_utf8, lines.text.to_pylist()), dtype=np.bool_, count=len(lines))
    good = lines.keep(valid)
    return Lines(good.text.cast(pa.large_string()), good.number), lines.keep(~valid)


def _none(lines: Lines) -> Lines:
    return Lines(lines.text[:0], lines.number[:0])


def _is_utf8(line: bytes) -> bool:
    if line.isascii():
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def kept(line: str) -> str:
    """The line as it is kept with its reason: without its end, and not longer than the limit.

    >>> kept("abc\\r\\n"), len(kept("\\u00e9" * 5000))
    ('abc', 2048)
    """
    bare = without_end(line)
    if len(bare) * 4 <= TEXT_LIMIT:
        return bare
    return bare.encode()[:TEXT_LIMIT].decode(errors="ignore")


def without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")
