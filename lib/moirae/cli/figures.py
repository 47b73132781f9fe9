"""All figures of `moirae status` as plain values, the same for people and for scripts.

Rows reconcile if each that landed was archived, found late or quarantined, and, until compaction first leaves rejected
rows out, if the chunks hold as many as were archived.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from moirae.cli.chunks import place_of
from moirae.cli.times import iso
from moirae.ports.catalog import Beat, Chunk, Counts

if TYPE_CHECKING:
    from moirae.adapters.platform import PlatformState, ProcessState
    from moirae.ports.catalog import BatchRecord, Catalog

DETECTION = "detect_events"
Figures = dict[str, Any]


def figures_of(catalog: Catalog, platform: PlatformState | None, store: str, now: int) -> Figures:
    beats, last, totals, chunks = catalog.beats(), catalog.last_batch(DETECTION), catalog.totals(), catalog.chunks()
    streams = _streams(last, totals, chunks, now)
    return {
        "at": iso(now),
        "store": store,
        "platform": _platform(platform),
        "processes": _processes(platform, beats, now),
        "last_batch": _last_batch(last, beats, now),
        "streams": streams,
        "reconciled": all(stream["reconciled"] for stream in streams),
        "recalls": dict(catalog.task_counts()),
        "events": catalog.event_count(),
    }


def _platform(platform: PlatformState | None) -> Figures:
    if platform is None:
        return {"state": "never up", "run": None, "since": None, "addresses": {}}
    ended = platform.state if platform.state == "stopped" else "killed"
    state = platform.state if platform.alive else ended
    addresses = dict(platform.addresses) if platform.alive else {}
    return {"state": state, "run": platform.run, "since": iso(platform.started_at_us), "addresses": addresses}


def _processes(platform: PlatformState | None, beats: Sequence[Beat], now: int) -> list[Figures]:
    """Those under the supervisor in their order, then those that only gave signs of life."""
    by_name = {beat.process: beat for beat in beats}
    supervised = platform.processes if platform else ()
    names = {process.name for process in supervised}
    alive = platform is not None and platform.alive
    found = [_supervised(process, by_name.get(process.name), alive, now) for process in supervised]
    return found + [_alone(beat, now) for beat in beats if beat.process not in names]


def _supervised(process: ProcessState, beat: Beat | None, alive: bool, now: int) -> Figures:
    state = process.state if alive or process.pid is None else "gone"
    own = beat if beat is not None and beat.pid == process.pid else None  # else it is of an earlier life
    times = {"since": iso(process.started_at_us or None), "restarts": process.restarts, "exit_code": process.exit_code}
    return {"name": process.name, "state": state, "pid": process.pid, **times, "log": process.log, **_life(own, now)}


def _alone(beat: Beat, now: int) -> Figures:
    nothing = {"since": None, "restarts": 0, "exit_code": None, "log": None}
    return {"name": beat.process, "state": "last seen", "pid": beat.pid, **nothing, **_life(beat, now)}


def _life(beat: Beat | None, now: int) -> Figures:
    if beat is None:
        return {"says": None, "beat_age_s": None, "fields": {}}
    return {"says": beat.state, "beat_age_s": _seconds(now - beat.beat_at), "fields": json.loads(beat.fields)}


def _last_batch(last: BatchRecord | None, beats: Sequence[Beat], now: int) -> Figures | None:
    if last is None:
        return None
    told: Figures = next((json.loads(beat.fields) for beat in beats if beat.process == DETECTION), {})
    told = told if told.get("batch") == last.batch_id else {}
    times = {"committed_at": iso(last.committed_at), "lag_s": _seconds(now - last.committed_at)}
    return {"batch": last.batch_id, **times, **{name: told.get(name) for name in ("rows", "events", "took_s")}}


def _streams(
    last: BatchRecord | None, totals: Mapping[str, Counts], chunks: Sequence[Chunk], now: int
) -> list[Figures]:
    newest = last.watermarks if last else {}
    names = sorted({*totals, *newest, *(chunk.stream for chunk in chunks)})
    by_stream = {name: [chunk for chunk in chunks if chunk.stream == name] for name in names}
    return [_stream(name, newest.get(name), totals.get(name, Counts()), by_stream[name], now) for name in names]


def _stream(name: str, newest: int | None, counts: Counts, chunks: Sequence[Chunk], now: int) -> Figures:
    places: dict[str, int] = {}
    for chunk in chunks:
        places[place_of(chunk)] = places.get(place_of(chunk), 0) + 1
    kept = [chunk for chunk in chunks if chunk.state != "expired"]
    return {
        "stream": name,
        "newest_at": iso(newest),
        "behind_s": None if newest is None else _seconds(now - newest),
        **{key: getattr(counts, key) for key in ("landed", "archived", "late", "quarantined")},
        "in_chunks": sum(chunk.rows for chunk in kept),
        "bytes": sum(chunk.bytes for chunk in kept),
        "chunks": places,
        **reconcile(counts, chunks),
    }


def reconcile(counts: Counts, chunks: Sequence[Chunk]) -> Figures:
    """
    >>> reconcile(Counts(landed=10, archived=7, late=2, quarantined=1), [])["reconciled"]
    False
    """
    settled = counts.archived + counts.late + counts.quarantined
    if settled != counts.landed:
        return {"reconciled": False, "problem": f"{counts.landed:,} landed, but {settled:,} are accounted for"}
    untouched = all(chunk.generation == 0 and chunk.state != "expired" for chunk in chunks)
    held = sum(chunk.rows for chunk in chunks)
    if (untouched and held != counts.archived) or held > counts.archived:
        return {"reconciled": False, "problem": f"{counts.archived:,} archived, but chunks hold {held:,}"}
    return {"reconciled": True, "problem": ""}


def _seconds(micros: int) -> float:
    return round(micros / 1e6, 3)
