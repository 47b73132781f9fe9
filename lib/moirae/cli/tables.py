"""Tables that fit: as wide as they need to be in a pipe, on a narrow screen without the columns one can spare.

A value is never cut. Columns of text are folded, all others keep their values on one line; where even that is too wide,
every row becomes a block of lines, one a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

_LEAST_TEXT = 16  # cells that folded text is given at least
_GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """`right` is for figures, `text` may be folded; the column of the largest `spare` is left out first, 0 never."""

    heading: str
    right: bool = False
    text: bool = False
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """Drawn by the console that prints it, because only that one knows how wide the screen is."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.text import Text

        widths = [self._cells(number) for number in range(len(self.columns))]
        kept = self._kept(widths, options.max_width)
        if _together(widths, kept) > options.max_width:
            yield from self._blocks()
            return
        yield self._table(kept)
        gone = [column.heading for number, column in enumerate(self.columns) if number not in kept]
        if gone:
            yield Text(f"too narrow for: {', '.join(gone)}; --json shows all", style="dim")

    def _cells(self, number: int) -> int:
        from rich.cells import cell_len

        column = self.columns[number]
        widest = max(cell_len(str(each)) for each in (column.heading, *(row[number] for row in self.rows)))
        return min(widest, _LEAST_TEXT) if column.text else widest

    def _kept(self, widths: Sequence[int], width: int) -> list[int]:
        kept = list(range(len(self.columns)))
        for number in sorted(kept, key=lambda number: -self.columns[number].spare):
            if _together(widths, kept) <= width or not self.columns[number].spare:
                break
            kept.remove(number)
        return kept

    def _table(self, kept: Sequence[int]) -> Table:
        table = _bare()
        for column in (self.columns[number] for number in kept):
            side: Literal["right", "left"] = "right" if column.right else "left"
            table.add_column(column.heading, justify=side, overflow="fold", no_wrap=not column.text)
        for row in self.rows:
            table.add_row(*(row[number] for number in kept))
        return table

    def _blocks(self) -> Iterator[Any]:
        for number, row in enumerate(self.rows):
            if number:
                yield ""
            block = _bare(headings=False)
            block.add_column(no_wrap=True, style="bold")
            block.add_column(overflow="fold")
            for column, value in zip(self.columns, row, strict=True):
                block.add_row(column.heading, value)
            yield block


def _bare(headings: bool = True) -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_header=headings)


def _together(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[number] for number in kept) + _GAP * (len(kept) - 1)


def grid(columns: Iterable[Column], rows: Iterable[Sequence[Any]]) -> Grid:
    return Grid(tuple(columns), tuple(tuple(row) for row in rows))
