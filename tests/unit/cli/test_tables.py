"""Tables that fit: folded, then without what one can spare, then as blocks; a value is never cut."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from moirae.cli.tables import Column, grid

COLUMNS = (
    Column("name"),
    Column("rows", right=True),
    Column("kind", spare=1),
    Column("place", spare=2),
    Column("note", text=True),
)
ROWS = (
    ("traffic", "1,234", "stream", "/archive/traffic", "a note of some length that may well be folded"),
    ("x", "5", "event", "-", "short"),
)


def drawn(width: int, columns: tuple[Column, ...] = COLUMNS, rows: tuple[tuple[str, ...], ...] = ROWS) -> list[str]:
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False, highlight=False).print(grid(columns, rows))
    return screen.getvalue().splitlines()


def headings(lines: list[str]) -> list[str]:
    return lines[0].split()


def test_a_wide_screen_shows_every_row_on_a_line_of_its_own() -> None:
    """P6: figures are at the right, all else at the left."""
    lines = drawn(200)
    assert len(lines) == 3
    assert lines[1].rstrip() == (
        "traffic  1,234  stream  /archive/traffic  a note of some length that may well be folded"
    )
    assert lines[2].rstrip() == "x            5  event   -                 short"


def test_text_is_folded_before_a_column_is_left_out() -> None:
    """P6: as long as sixteen cells are left for it."""
    lines = drawn(61)
    assert headings(lines) == ["name", "rows", "kind", "place", "note"]
    assert len(lines) > 3
    folded = " ".join(line[42:].strip() for line in lines[1:] if line[:1] in ("t", " "))
    assert folded == "a note of some length that may well be folded"
    assert not any("too narrow" in line for line in lines)


@pytest.mark.parametrize(
    ("width", "kept", "gone"),
    [
        (58, ["name", "rows", "kind", "place", "note"], None),
        (57, ["name", "rows", "kind", "note"], "place"),
        (40, ["name", "rows", "kind", "note"], "place"),
        (39, ["name", "rows", "note"], "kind, place"),
        (32, ["name", "rows", "note"], "kind, place"),
    ],
)
def test_columns_one_can_spare_go_one_by_one(width: int, kept: list[str], gone: str | None) -> None:
    """P6: the largest `spare` first, not one more than needed, and the reader is told."""
    lines = drawn(width)
    assert headings(lines) == kept
    assert max(map(len, lines)) <= width or gone is not None
    told = " ".join(line.strip() for line in lines if "too narrow" in line or line.endswith("shows all"))
    assert told == ("" if gone is None else f"too narrow for: {gone}; --json shows all")


def test_where_nothing_more_can_be_spared_rows_become_blocks() -> None:
    """P6: a line a column, all columns, a blank line between rows."""
    lines = [line.rstrip() for line in drawn(31)]
    blocks = "\n".join(lines).split("\n\n")
    assert len(blocks) == 2
    assert blocks[1].splitlines() == ["name   x", "rows   5", "kind   event", "place  -", "note   short"]
    assert blocks[0].startswith("name   traffic\nrows   1,234\nkind   stream\nplace  /archive/traffic\nnote   a note")


@pytest.mark.parametrize("width", [8, 12, 20, 31, 32, 39, 40, 57, 58, 61, 80, 120])
def test_a_value_is_whole_on_every_screen_that_shows_its_column(width: int) -> None:
    """P6: folded perhaps, but no sign of it is missing."""
    lines = drawn(width)
    together = "".join(lines).replace(" ", "")
    shown = together if "toonarrow" not in together else together.split("toonarrow")[0]
    for heading, value in (("rows", "1,234"), ("kind", "stream"), ("place", "/archive/traffic")):
        if heading in shown:
            signs = iter(shown)
            assert all(sign in signs for sign in value)
    assert "…" not in together


def test_wide_signs_count_as_the_cells_they_take() -> None:
    """P6: a name in Chinese takes two cells a sign."""
    columns = (Column("name"), Column("place", spare=1))
    rows = (("服务器一号", "rack"),)
    assert headings(drawn(17, columns, rows)) == ["name", "place"]
    assert headings(drawn(16, columns, rows)) == ["name"]


def test_a_table_without_rows_has_its_headings() -> None:
    """P6: and no error."""
    assert drawn(100, COLUMNS, ()) == ["name  rows  kind  place  note"]


def test_a_pipe_is_as_wide_as_the_table() -> None:
    """P6: nothing is folded or left out where no screen is."""
    from moirae.cli.output import console

    pipe = io.StringIO()
    wide = "w" * 5000
    console(pipe).print(grid(COLUMNS, [("a", "1", "b", "c", wide)]))
    assert wide in pipe.getvalue()
    assert len(pipe.getvalue().splitlines()) == 2
