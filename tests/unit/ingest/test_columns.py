"""Values of every type, as the compiled loops read them: always as the careful way does."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from tests.oracles.landing_files import STREAM
from tests.unit.ingest.mutants import taken_alike

from moirae.ingest.csv_rows import CsvRows
from moirae.ingest.json_lines import JsonLines
from moirae.ingest.reader import Reader

READERS: dict[str, Reader] = {"json": JsonLines(STREAM), "csv": CsvRows.below("at,speed,bytes,code,up,server", STREAM)}


def line(reader: Reader, name: str, text: str) -> bytes:
    """A line with one value besides its time."""
    if isinstance(reader, JsonLines):
        return f'{{"at":"2026-07-06","{name}":{text}}}'.encode()
    values = [text if name == column else "" for column in ("speed", "bytes", "code", "up", "server")]
    return ",".join(["2026-07-06", *values]).encode()


@pytest.mark.parametrize("form", READERS)
def test_a_real_number_is_the_nearest_to_what_is_written(form: str) -> None:
    """P4: as Python reads it, however it is computed."""
    draw = Random(7)
    whole = ["0", "7", "9007199254740993", "999999999999999", "123456789012345", "1" * 24]
    powers = ["", "e0", "E22", "e+23", "e-22", "e-23", "e99", "e-99"]
    texts = [sign + a + b + c for sign, a, b, c in product(["", "-"], whole, ["", ".0", ".3", ".000001"], powers)]
    texts += [repr(draw.random() * 10 ** draw.randrange(-4, 15)) for _ in range(500)]
    texts += [f"{draw.randrange(10 ** draw.randrange(1, 18))}e{draw.randrange(-40, 40)}" for _ in range(500)]
    texts += [f"{draw.randrange(10**6)}.{draw.randrange(10 ** draw.randrange(1, 10))}" for _ in range(500)]
    assert taken_alike(READERS[form], [line(READERS[form], "speed", text) for text in texts]) == len(texts)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize(
    ("name", "text", "quick"),
    [
        ("code", "999999999", True),
        ("code", "-999999999", True),
        ("code", "2147483647", False),
        ("bytes", "999999999999999999", True),
        ("bytes", "-9223372036854775808", False),
        ("bytes", "1.0", False),
        ("bytes", "true", False),
        ("speed", "1e100", False),
        ("speed", "1" * 25, False),
        ("speed", "0." + "1" * 25, False),
        ("speed", "true", False),
        ("up", "true", True),
        ("up", "false", True),
        ("up", "1", False),
    ],
)
def test_only_what_surely_fits_is_read_quickly(form: str, name: str, text: str, quick: bool) -> None:
    """P4: nothing is rounded, cut or guessed."""
    assert taken_alike(READERS[form], [line(READERS[form], name, text)]) == quick


def test_every_escape_is_the_character_it_stands_for() -> None:
    """P4: of one byte to four, and surrogate pairs."""
    codes = [*range(0xD800), *range(0xE000, 0x10000), 0x10000, 0x10FFFF, *range(0x10400, 0x110000, 0x1357)]
    texts = ["".join(f"\\u{unit:04x}" for unit in _units(code)) for code in codes]
    reader = READERS["json"]
    assert taken_alike(reader, [line(reader, "server", f'"<{text}>"') for text in texts]) == len(texts)


def _units(code: int) -> list[int]:
    """A character in UTF-16."""
    return [code] if code < 0x10000 else [0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF)]
