"""Who computes: this process, or Spark's tasks. The same functions run in both, so the results are the same.

A Spark job takes a tenth of a second whatever it does; a batch of a few thousand rows is done before one has begun.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Sized(Protocol):
    """Work of a known size, in bytes."""

    @property
    def size(self) -> int: ...


Unit = TypeVar("Unit", bound=Sized)
Result = TypeVar("Result")


class Workers(Protocol):
    """Does `work` for every unit; all results in the order of the units."""

    def __call__(self, work: Callable[[Unit], Iterable[Result]], units: Sequence[Unit]) -> list[Result]: ...


def here(work: Callable[[Unit], Iterable[Result]], units: Sequence[Unit]) -> list[Result]:
    return [result for unit in units for result in work(unit)]


def on_spark(spark: SparkSession) -> Workers:
    """A task a core. Units and results are small values: what is large stands in files."""
    context = spark.sparkContext

    def workers(work: Callable[[Unit], Iterable[Result]], units: Sequence[Unit]) -> list[Result]:
        if not units:
            return []
        hands = deal([unit.size for unit in units], context.defaultParallelism)

        def task(hand: list[tuple[int, Unit]]) -> Iterator[tuple[int, list[Result]]]:
            _keep_modules()
            for number, unit in hand:
                yield number, list(work(unit))

        dealt = [[(number, units[number]) for number in hand] for hand in hands]
        done = dict(context.parallelize(dealt, len(dealt)).flatMap(task).collect())
        return [result for number in range(len(units)) for result in done[number]]

    return workers


def deal(sizes: Sequence[int], hands: int) -> list[list[int]]:
    """The numbers of the units in at most so many hands of about the same total size, largest first.

    >>> deal([5, 1, 1, 4, 2], hands=2)
    [[0, 1, 2], [3, 4]]
    """
    dealt: list[list[int]] = [[] for _ in range(min(hands, len(sizes)))]
    totals = [(0, 0)] * len(dealt)  # size, then count: units of no size are spread as well
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        least = totals.index(min(totals))
        dealt[least].append(number)
        totals[least] = (totals[least][0] + sizes[number], totals[least][1] + 1)
    return dealt


def _keep_modules() -> None:
    """Spark's workers collect garbage after every task; going through all that was ever imported takes 60 ms."""
    if not gc.get_freeze_count():
        gc.freeze()
