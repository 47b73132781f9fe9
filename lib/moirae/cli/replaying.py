"""Putting refused lines into the landing folder once more, as new files that are whole or not there.

The lines are taken from the files they came in, byte for byte; only where such a file is gone, from the text kept with
the reason. A file's name carries a digest of what was chosen, so the same choice twice is recognised. Its last line is
a blank one spelled from that digest: readers skip it, and it keeps the file from being taken for a duplicate of the one
that the lines came from.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

from moirae.cli.refused import CHECK, Refused
from moirae.errors import MoiraeError, PlatformError
from moirae.ingest.lines import TEXT_LIMIT
from moirae.ingest.names import CSV, format_of, stream_of

_BLANKS = str.maketrans({"0": " ", "1": "\t"})


@dataclass(frozen=True, slots=True)
class Replay:
    """One new landing file: where, what is in it, and whose lines they are."""

    path: Path
    stream: str
    digest: str
    content: bytes
    lines: Mapping[str, tuple[int, ...]]

    @property
    def count(self) -> int:
        return sum(map(len, self.lines.values()))


@dataclass(frozen=True, slots=True)
class Plan:
    replays: tuple[Replay, ...]
    skipped: Mapping[str, int]  # why, and how many


@dataclass(frozen=True, slots=True)
class _Raw:
    """A line as it came; `header` is the one it stood under, `suffix` tells how to read it."""

    record: Refused
    content: bytes
    header: bytes
    suffix: str


def plan_replay(chosen: Sequence[Refused], landing: Path) -> Plan:
    """Files to write for the chosen records, one for each stream and header; reads the files they came in."""
    raws: list[_Raw] = []
    skipped: dict[str, int] = {}
    for file, group in groupby(sorted(chosen, key=lambda r: (r.stream, r.file, r.line)), key=lambda r: r.file):
        content = _content(file)
        for record in group:
            found = _raw(record, content)
            if isinstance(found, _Raw):
                raws.append(found)
            else:
                skipped[found] = skipped.get(found, 0) + 1
    return Plan(tuple(_files(raws, landing)), skipped)


def write_replay(replay: Replay) -> None:
    """Under a name that readers pass over, then renamed."""
    partial = replay.path.with_name(f".{replay.path.name}.tmp")
    try:
        replay.path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(replay.content)
        partial.replace(replay.path)
    except OSError as error:
        raise PlatformError(f"{replay.path}: cannot be written ({error.strerror}); free space or permit it") from error


def _files(raws: Iterable[_Raw], landing: Path) -> Iterable[Replay]:
    def where(raw: _Raw) -> tuple[str, str, bytes]:
        return raw.record.stream, raw.suffix, raw.header

    for (stream, suffix, header), group in groupby(sorted(raws, key=where), key=where):
        members = list(group)
        digest = _digest(members)
        body = b"".join(raw.content.rstrip(b"\n") + b"\n" for raw in members)
        mark = f"{int(digest, 16):064b}".translate(_BLANKS).encode() + b"\n"
        folder = landing / _source(members[0].record, landing)
        yield Replay(folder / f"replay-{digest}{suffix}", stream, digest, header + body + mark, _lines(members))


def _raw(record: Refused, content: bytes | None) -> _Raw | str:
    """The line, or why it cannot be replayed."""
    name = record.file.rsplit("/", 1)[-1]
    format_, _ = format_of(name)
    if record.source == CHECK:
        return "failed the check of a sealed chunk: change the rule in config/quality instead"
    if record.line == 0:
        return _whole(record, content, format_)
    if format_ is None:
        return "the file's name tells no format: rename it and land it again"
    suffix = ".csv" if format_ == CSV else ".jsonl"
    lines = content.split(b"\n") if content is not None else []
    if 0 < record.line <= len(lines):
        header = _header(lines) + b"\n" if format_ == CSV else b""
        return _Raw(record, lines[record.line - 1], header, suffix)
    if format_ == CSV:
        return "the CSV file with its header is gone"
    if len(record.text.encode()) >= TEXT_LIMIT:
        return f"the file is gone and only {TEXT_LIMIT} bytes of the line were kept"
    return _Raw(record, record.text.encode(), b"", suffix)


def _whole(record: Refused, content: bytes | None, format_: str | None) -> _Raw | str:
    """A file refused as a whole: worth another try if a stream was missing, or if it has been filled since."""
    if record.reason.startswith("duplicate of"):
        return "a duplicate of a file that was taken"
    if record.reason.startswith("empty") and not content:
        return "the file is still empty"
    if not record.reason.startswith(("no stream reads from", "empty")):
        return "the file cannot be read: repair it and land it again"
    if content is None:
        return "the file is gone"
    if format_ is None:
        return "the file's name tells no format: rename it and land it again"
    lines = content.split(b"\n", 1)
    if format_ == CSV:
        return _Raw(record, lines[1] if len(lines) > 1 else b"", lines[0] + b"\n", ".csv")
    return _Raw(record, content, b"", ".jsonl")


def _content(file: str) -> bytes | None:
    """A landing file as its reader saw it; None if it is gone or damaged."""
    path = Path(unquote(re.sub(r"^file:(//(?=/))?", "", file)) if file.startswith("file:") else file)
    try:
        raw = path.read_bytes()
        plain = gzip.decompress(raw) if path.name.lower().endswith(".gz") else raw
    except (OSError, EOFError, zlib.error):
        return None
    return plain.removeprefix(codecs.BOM_UTF8)


def _header(lines: Sequence[bytes]) -> bytes:
    """The first line that is not blank."""
    return next((line for line in lines if line.strip()), b"")


def _digest(members: Sequence[_Raw]) -> str:
    digest = hashlib.sha256()
    for raw in members:
        digest.update(f"{raw.record.stream}\0{raw.record.file}\0{raw.record.line}\0".encode() + raw.content + b"\0")
    return digest.hexdigest()[:16]


def _lines(members: Sequence[_Raw]) -> dict[str, tuple[int, ...]]:
    files: dict[str, list[int]] = {}
    for raw in members:
        files.setdefault(raw.record.file, []).append(raw.record.line)
    return {file: tuple(numbers) for file, numbers in files.items()}


def _source(record: Refused, landing: Path) -> str:
    """The folder of the landing folder that the record's file lay in."""
    try:
        return stream_of(record.file, str(landing))
    except MoiraeError:
        return record.stream  # the landing folder was another one then
