"""M1: what counts as the same partition key, and where a key lives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from moirae.engine.keys import KeyTable, bucket_of, key_columns, key_text
from moirae.model.expr import Col
from moirae.model.query import Output
from moirae.model.schema import Type


def text_of(*columns: pa.Array) -> list[str]:
    table = pa.table({f"k{i}": column for i, column in enumerate(columns)})
    found: list[str] = key_text(table, table.num_rows).to_pylist()
    return found


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string())


def test_columns_do_not_run_into_each_other() -> None:
    """M1: ('a\\x1fb', 'c') and ('a', 'b\\x1fc') would be one text if the separator were not escaped."""
    one, two = text_of(texts("a\x1fb", "a"), texts("c", "b\x1fc"))
    assert one != two
    assert text_of(texts("ab", "a"), texts("c", "bc")) == ["ab\x1fc", "a\x1fbc"]


def test_null_is_a_key_of_its_own() -> None:
    """M1: it is neither the empty text, nor the word, nor the character that stands for it."""
    assert len(set(text_of(texts(None, "", "null", "\x00", "\x01n")))) == 5
    assert len(set(text_of(texts(None, "", "x"), texts("x", "x", None)))) == 3


def test_texts_that_spell_an_escape_stay_apart() -> None:
    """M1: the escape character is escaped first, so no text can imitate another one's spelling."""
    tricky = ["\x00", "\x01", "\x1f", "\x01e", "\x01n", "\x01s", "\x01\x00", "\x00\x01", "\x01en", "\x01\x1f"]
    assert len(set(text_of(texts(*tricky)))) == len(tricky)


def test_plain_text_is_its_own_key() -> None:
    """M1: keys in a dump can be read; letters beyond ASCII and blanks need no escape."""
    assert text_of(texts("web 1", "é", "tab\tnewline\n")) == ["web 1", "é", "tab\tnewline\n"]


def test_numbers_and_times_are_spelled_exactly() -> None:
    """M1: no rounding between neighbours."""
    assert text_of(pa.array([2**63 - 1, -1, None])) == [str(2**63 - 1), "-1", "\x00"]
    assert text_of(pa.array([1, -1], Type.TIMESTAMP.arrow)) == ["1", "-1"]
    assert text_of(pa.array([True, False])) == ["true", "false"]


def test_reals_are_one_key_when_they_are_equal() -> None:
    """M1: zero has no sign and NaN equals itself, as in Spark's GROUP BY; neighbours are two keys."""
    zero, minus, nan, other, one, next_, null = text_of(
        pa.array([0.0, -0.0, math.nan, -math.nan, 1.0, math.nextafter(1.0, 2.0), None])
    )
    assert (zero, nan) == (minus, other)
    assert len({zero, nan, one, next_, null}) == 5


def test_minus_zero_is_shown_as_zero() -> None:
    """M1: otherwise the event would depend on which of the two came first."""
    columns = key_columns((Output("k0", Col("x", Type.DOUBLE)),), pa.table({"x": [-0.0, 1.5, None]}))
    assert repr(columns["k0"].to_pylist()) == "[0.0, 1.5, None]"


def test_without_key_columns_all_rows_have_one_key() -> None:
    """M1: a window over the whole stream."""
    rows = pa.table({"x": [1, 2, 3]})
    assert key_text(key_columns((), rows), 3).to_pylist() == ["", "", ""]


def test_a_slice_of_rows_has_the_keys_of_its_rows() -> None:
    """M1: an odd byte elsewhere in the column's buffer changes no key."""
    column = texts("\x1f", "a", None, "b")
    assert text_of(column.slice(1)) == ["a", "\x00", "b"]


def test_buckets_depend_on_the_key_alone() -> None:
    """M1: the same key is in the same bucket in every batch, and all buckets are in use."""
    names = [f"server {i}" for i in range(200)]
    first = dict(zip(names, bucket_of(pa.array(names), 4).tolist(), strict=True))
    again = dict(zip(names[::-1], bucket_of(pa.array(names[::-1]), 4).tolist(), strict=True))
    assert first == again
    assert set(first.values()) == {0, 1, 2, 3}
    assert bucket_of(pa.array(names), 1).tolist() == [0] * 200


def intern(table: KeyTable, *names: str | None) -> tuple[KeyTable, list[int]]:
    rows = pa.table({"k0": texts(*names)})
    table, ids = table.intern(key_text(rows, rows.num_rows), rows)
    return table, ids.tolist()


@pytest.fixture(name="empty")
def empty_table() -> KeyTable:
    return KeyTable.start((Output("k0", Col("server", Type.STRING)),))


def test_ids_are_given_in_the_order_keys_first_come(empty: KeyTable) -> None:
    """M1: dense from 0; a known key keeps its id, NULL gets one like any other."""
    table, ids = intern(empty, "b", "a", "b", None)
    assert ids == [0, 1, 0, 2]
    table, ids = intern(table, "c", "a", None, "c")
    assert ids == [3, 1, 2, 3]
    assert table.columns["k0"].to_pylist() == ["b", "a", None, "c"]
    assert len(table) == 4


def test_no_rows_bring_no_keys(empty: KeyTable) -> None:
    """M1: an idle batch leaves the table as it is."""
    table, ids = intern(empty)
    assert (len(table), ids) == (0, [])


def test_forgotten_keys_make_room(empty: KeyTable) -> None:
    """M1: the others move up, and what is forgotten may come back under a new id."""
    table, _ = intern(empty, "a", "b", "c")
    table, new_ids = table.keep(np.array([True, False, True]))
    assert new_ids.tolist() == [0, -1, 1]
    assert table.columns["k0"].to_pylist() == ["a", "c"]
    assert intern(table, "b", "c")[1] == [2, 1]


def test_a_key_without_columns_is_interned_once() -> None:
    """M1: the one key of a stream-wide window."""
    rows: Any = pa.table({"x": [1, 2]})
    columns = key_columns((), rows)
    table, ids = KeyTable.start(()).intern(key_text(columns, 2), columns)
    assert (len(table), ids.tolist()) == (1, [0, 0])
    table, new_ids = table.keep(np.array([False]))
    assert (len(table), new_ids.tolist()) == (0, [-1])
