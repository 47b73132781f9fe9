"""M1: hashes are the published XXH64, whatever the machine and however Arrow keeps the strings."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from moirae.model.hashing import hash_strings, hex_ids, real_bits


def hashes(strings: pa.Array | pa.ChunkedArray, seed: int = 0) -> list[str]:
    return [f"{value:016x}" for value in hash_strings(strings, seed)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "ef46db3751d8e999"),
        ("a", "d24ec4f1a98c6e5b"),
        ("abc", "44bc2cf5ad770999"),
        ("a" * 32, "856e843298f99ad7"),
        ("0123456789abcdef0123456789abcdef", "642a94958e71e6c5"),
        ("Nobody inspects the spammish repetition", "fbcea83c8a378bf1"),
        ("The quick brown fox jumps over the lazy dog", "0b242d361fda71bc"),
        ("The quick brown fox jumps over the lazy dog.", "44ad33705751ad73"),
    ],
)
def test_published_answers_of_xxh64(text: str, expected: str) -> None:
    """M1: event ids must outlive this implementation, so it is the one everybody has (seed 0)."""
    assert hashes(pa.array([text])) == [expected]


def test_a_seed_gives_another_hash() -> None:
    """M1: the published answer for "abc" and the seed 12345."""
    assert hashes(pa.array(["abc"]), 12345) == ["01700e64f6f23509"]


def test_where_a_string_stands_does_not_change_its_hash() -> None:
    """M1: in a slice, among others, in pieces, or with the long offsets."""
    abc, fox = hashes(pa.array(["abc"])) + hashes(pa.array(["fox"]))
    among = pa.array(["?", "abc", "", "fox"])
    assert hashes(among.slice(1))[0] == abc
    assert hashes(pa.chunked_array([["abc"], [], ["fox"]], pa.string())) == [abc, fox]
    assert hashes(pa.array(["abc", "fox"], pa.large_string())) == [abc, fox]


def test_null_hashes_as_the_empty_string() -> None:
    """M1: a key's text is never NULL; what is must not fail or depend on leftover bytes."""
    assert hashes(pa.array(["x", None, ""]).slice(1)) == ["ef46db3751d8e999"] * 2
    assert hashes(pa.array([None], pa.string())) == ["ef46db3751d8e999"]


def test_text_is_hashed_as_utf8_bytes() -> None:
    """M1: the composed and the decomposed é look the same and are not."""
    assert len(set(hashes(pa.array(["\u00e9", "e\u0301", "e"])))) == 3


def test_no_strings_have_no_hashes() -> None:
    """M1: an empty batch is a batch."""
    assert hashes(pa.array([], pa.string())) == []
    assert hex_ids(pa.array([], pa.string())).to_pylist() == []


def test_ids_are_both_seeds_in_hexadecimal() -> None:
    """M1: 128 bits, 32 digits; the first half is the published hash."""
    ids = hex_ids(pa.array(["abc", "", None])).to_pylist()
    assert [text[:16] for text in ids] == ["44bc2cf5ad770999", "ef46db3751d8e999", "ef46db3751d8e999"]
    assert [text[16:] for text in ids] == hashes(pa.array(["abc", "", ""]), 1)


def test_equal_reals_have_equal_bits() -> None:
    """M1: zero has no sign and NaN one spelling, as in Spark's GROUP BY; neighbours stay apart."""
    other_nan = -math.nan
    zero, minus, nan, odd, one, next_ = real_bits(
        pa.array([0.0, -0.0, math.nan, other_nan, 1.0, math.nextafter(1.0, 2.0)])
    ).tolist()
    assert zero == minus
    assert nan == odd
    assert len({zero, nan, one, next_}) == 4
