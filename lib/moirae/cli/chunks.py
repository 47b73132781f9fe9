"""`moirae chunks`: the history, chunk by chunk, and a line a stream that shows its tiers at a glance."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from moirae.cli.output import Json, print_json, say, show, visible
from moirae.cli.session import session_of
from moirae.cli.tables import Column, grid
from moirae.cli.times import iso, show_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moirae.ports.catalog import Catalog, Chunk

COLUMNS = (
    Column("chunk"),
    Column("tier"),
    Column("state"),
    Column("gen", right=True, spare=3),
    Column("rows", right=True),
    Column("size", right=True, spare=2),
    Column("from (UTC)"),
    Column("to (UTC)", spare=1),
    Column("check", text=True),
)
GLYPHS = {"old": "░", "recent": "▒", "present": "█", "held": "!", "expired": "·"}
_MOST = 24  # glyphs of one run; a longer one is drawn as these and its number


def register(app: typer.Typer) -> None:
    app.command("chunks", epilog="Example: moirae chunks --stream traffic")(list_chunks)


def list_chunks(
    context: typer.Context,
    stream: Annotated[str | None, typer.Option(metavar="NAME", help="Only this stream.")] = None,
    json: Json = False,
) -> None:
    """List the chunks of the archive, oldest first."""
    with session_of(context).catalog() as catalog:
        found = catalog.chunks(stream.lower() if stream else None)
        nothing = "" if found else _nothing(catalog, stream)
    if json:
        print_json([chunk_fields(chunk) for chunk in found])
    elif found:
        show(grid(COLUMNS, [_row(chunk) for chunk in found]), "", *drawn(found))
    else:
        say(nothing)


def _nothing(catalog: Catalog, stream: str | None) -> str:
    """Why the list is empty, and what to do about it."""
    others = sorted({chunk.stream for chunk in catalog.chunks()})
    if stream and others:
        return f"no chunks of '{stream}'; there are some of {', '.join(others)}"
    return "no chunks yet: the first is opened when rows of a deployed stream land; see `moirae status`"


def place_of(chunk: Chunk) -> str:
    """Its tier, unless its state keeps it from being read."""
    return chunk.tier if chunk.state in ("open", "sealed") else chunk.state


def drawn(chunks: Sequence[Chunk]) -> list[str]:
    """One line a stream, oldest chunk first, and what the signs mean."""
    width = max((len(chunk.stream) for chunk in chunks), default=0)
    by_stream = [(stream, list(group)) for stream, group in groupby(chunks, key=lambda chunk: chunk.stream)]
    lines = [f"{stream:<{width}}  {_line([place_of(chunk) for chunk in group])}" for stream, group in by_stream]
    used = [place for place in GLYPHS if place in {place_of(chunk) for chunk in chunks}]
    return [*lines, "  ".join(f"{GLYPHS[place]} {place}" for place in used)]


def _line(places: Sequence[str]) -> str:
    """
    >>> _line(["old"] * 2 + ["recent", "held", "present"]), _line(["old"] * 30)
    ('░░▒!█', '░░░░░░░░░░░░░░░░░░░░░░░░x30')
    """
    runs = [(GLYPHS[place], len(list(group))) for place, group in groupby(places)]
    return "".join(glyph * min(n, _MOST) + (f"x{n}" if n > _MOST else "") for glyph, n in runs)


def chunk_fields(chunk: Chunk) -> dict[str, object]:
    return {
        **{name: getattr(chunk, name) for name in ("id", "stream", "sequence", "epoch", "generation")},
        **{name: getattr(chunk, name) for name in ("state", "tier", "rows", "bytes", "path", "delta_version")},
        **{name: iso(getattr(chunk, name)) for name in ("min_at", "max_at", "opened_at", "sealed_at", "checked_at")},
        "check_result": chunk.check_result,
        "check_reason": chunk.check_reason,
    }


def _row(chunk: Chunk) -> tuple[str, ...]:
    from moirae.model.units import show_size

    figures = (str(chunk.generation), f"{chunk.rows:,}", show_size(chunk.bytes))
    times = (show_time(chunk.min_at), show_time(chunk.max_at))
    check = {"none": "-"}.get(chunk.check_result, chunk.check_result)
    reason = f"{check}: {visible(chunk.check_reason)}" if chunk.check_reason else check
    return chunk.id, chunk.tier, chunk.state, *figures, *times, reason
