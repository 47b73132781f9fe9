"""Exact distinct values per group and pane: a sorted set of (pane, key, value) triples of whole numbers.

Strings get codes from a dictionary kept with the state, so two different ones never count as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moirae.model.hashing import real_bits

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DistinctSet:
    """Triples ordered by pane, then key, then value, each once."""

    pane: Ints
    key: Ints
    value: Ints
    words: pa.Array  # the string of each code; empty for numbers

    @classmethod
    def start(cls) -> DistinctSet:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, pa.array([], pa.string()))

    def add(self, pane: Ints, key: Ints, values: pa.Array) -> DistinctSet:
        """With these rows; NULLs are not values."""
        valid = np.asarray(values.is_valid())
        words, codes = _codes(self.words, values.drop_null())
        merged = (
            np.concatenate([self.pane, pane[valid]]),
            np.concatenate([self.key, key[valid]]),
            np.concatenate([self.value, codes]),
        )
        return DistinctSet(*_unique(*merged), words)

    def count(self, first_pane: int, end_pane: int, keys: Ints) -> Ints:
        """How many values each of `keys` (sorted) has in panes [first_pane, end_pane)."""
        low, high = np.searchsorted(self.pane, [first_pane, end_pane])
        key, value = self.key[low:high], self.value[low:high]
        if end_pane - first_pane > 1:
            _, key, value = _unique(np.zeros(high - low, np.int64), key, value)
        return np.searchsorted(key, keys, "right") - np.searchsorted(key, keys, "left")

    def drop_before(self, pane: int) -> DistinctSet:
        """Without older panes, and without their words once these are the greater part."""
        low = int(np.searchsorted(self.pane, pane))
        if low == 0:
            return self
        kept = DistinctSet(self.pane[low:], self.key[low:], self.value[low:], self.words)
        return kept.compact() if len(kept.words) > 2 * len(kept.value) else kept

    def rekey(self, new_ids: npt.NDArray[np.int32]) -> DistinctSet:
        return DistinctSet(*_unique(self.pane, new_ids[self.key].astype(np.int64), self.value), self.words)

    def compact(self) -> DistinctSet:
        """Without the words no triple uses any more."""
        if len(self.words) == 0:
            return self
        used, codes = np.unique(self.value, return_inverse=True)
        return DistinctSet(self.pane, self.key, codes.astype(np.int64), self.words.take(pa.array(used)))


def _codes(words: pa.Array, values: pa.Array) -> tuple[pa.Array, Ints]:
    if pa.types.is_floating(values.type):
        return words, real_bits(values)
    if not pa.types.is_string(values.type):
        return words, np.asarray(values.cast(pa.int64()))
    encoded = values.dictionary_encode()
    known = pc.index_in(encoded.dictionary, words)
    new = encoded.dictionary.filter(pc.is_null(known))
    all_words = pa.concat_arrays([words, new])
    code_of = np.asarray(pc.index_in(encoded.dictionary, all_words).cast(pa.int64()))
    return all_words, code_of[np.asarray(encoded.indices)]


def _unique(pane: Ints, key: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    if len(pane) == 0:
        return pane, key, value
    order = np.lexsort((value, key, pane))
    pane, key, value = pane[order], key[order], value[order]
    first = np.ones(len(pane), np.bool_)
    first[1:] = (pane[1:] != pane[:-1]) | (key[1:] != key[:-1]) | (value[1:] != value[:-1])
    return pane[first], key[first], value[first]
