"""What a run did not count, told in lines: nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from moirae.engine.landing import Landed
from moirae.model.query import StreamDef
from moirae.model.units import show_duration

_SHOWN = 3  # reasons of each stream


@dataclass(slots=True)
class LeftOut:
    """Late rows by stream, and by file the lines that are no rows (columns line, text, reason)."""

    late: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[str, pa.Table]] = field(default_factory=list)


def tell(left_out: LeftOut, landed: Landed, streams: Iterable[StreamDef]) -> Iterator[str]:
    """By stream: how many lines were refused and why the first of them, and how many rows came too late."""
    parts = {_name(str(part.path)): part for part in landed.parts}
    reasons: dict[str, dict[int, str]] = {}
    for path, bad in left_out.refused:
        part = parts[_name(path)]
        lines = zip(bad["line"].to_pylist(), bad["reason"].to_pylist(), strict=True)
        reasons.setdefault(part.stream, {}).update((line + part.before, reason) for line, reason in lines)
    for stream in streams:
        yield from _refused(stream.name, reasons.get(stream.name, {}))
        if late := left_out.late.get(stream.name, 0):
            yield f"{stream.name}: {late:,} rows left out, more than {show_duration(stream.lateness_us)} late"


def _refused(stream: str, reasons: Mapping[int, str]) -> Iterator[str]:
    if reasons:
        first = sorted(reasons.items())[:_SHOWN]
        more = ", the first" if len(reasons) > _SHOWN else ""
        yield f"{stream}: {len(reasons):,} lines refused{more}:"
        yield from (f"  line {line}: {reason}" for line, reason in first)


def _name(path: str) -> str:
    """Folder and file: engines name what lies before them in different ways."""
    return "/".join(path.rsplit("/", 2)[1:])
