"""A process that works on a catalog, for tests in which several do: `catalog_worker.py <what> <url> [<count>]`.

It says what it did as one line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable

from sqlalchemy import event

from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.ports.catalog import Append, BatchCommit, Chunk, Counts, Eid, LandedFile, LiveEvent, NewTask

ROOT = "/archive"


def batch(batch_id: int, chunk: Chunk, delta_version: int) -> BatchCommit:
    """Ten rows, one task."""
    eid = Eid(f"e{batch_id}")
    return BatchCommit(
        job="detect",
        batch_id=batch_id,
        committed_at=batch_id,
        watermarks={chunk.stream: batch_id},
        positions={chunk.stream: batch_id},
        counts={chunk.stream: Counts(landed=10, archived=10)},
        appends=[Append(chunk.stream, chunk.id, chunk.epoch, delta_version, 10, 80, batch_id, batch_id)],
        files=[LandedFile(f"{batch_id:064x}", f"{batch_id}.csv", chunk.stream, 10)],
        tasks=[NewTask(eid, "usual", 1, batch_id)],
    )


def commits(catalog: SqlCatalog, count: int) -> object:
    """Commit batches to whatever chunk is open; which chunk and version took each, and how many were told to go on."""
    taken, versions, rolled = [], dict[str, int](), 0
    for batch_id in range(count):
        catalog.upsert_events([LiveEvent(Eid(f"e{batch_id}"), "busy", 1, batch_id, "{}", batch_id, batch_id)])
        while True:
            chunk = catalog.present_chunk("traffic", ROOT, now=batch_id)
            versions[chunk.id] = versions.get(chunk.id, -1) + 1  # a Delta commit happens before the catalog's
            time.sleep(0.002)  # and takes a while, in which the chunk may be rolled
            if catalog.commit_batch(batch(batch_id, chunk, versions[chunk.id])).outcome == "committed":
                break
            rolled += 1
        taken.append([chunk.id, versions[chunk.id]])
    return {"taken": taken, "rolled": rolled}


def rolls(catalog: SqlCatalog, count: int) -> object:
    """Roll whatever chunk is open, until the last of so many batches is there."""
    while (last := catalog.last_batch("detect")) is None or last.batch_id < count - 1:
        chunk = catalog.present_chunk("traffic", ROOT, now=1)
        catalog.roll(chunk.id, chunk.epoch, now=1)
        time.sleep(0.005)
    return {}


def opens(catalog: SqlCatalog, _count: int) -> object:
    return {"program": catalog.program_version()}


def dies(url: str) -> object:
    """Commit one batch and be killed before its first statement, then before its second, until it gets through.

    What the catalog holds after each death.
    """
    seen = []
    for step in range(1, 100):
        child = os.fork()
        if child == 0:
            _commit_and_die(url, step)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        with open_catalog(url) as catalog:
            seen.append(_content(catalog))
        if status == 0:
            break
    return seen


def _commit_and_die(url: str, step: int) -> None:
    with open_catalog(url) as catalog:
        chunk = catalog.present_chunk("traffic", ROOT, now=0)
        left = iter(range(step - 1))

        def maybe_die(*_: object) -> None:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(catalog._engine, "before_cursor_execute", maybe_die)
        event.listen(catalog._engine, "commit", maybe_die)
        catalog.commit_batch(batch(1, chunk, 0))


def _content(catalog: SqlCatalog) -> list[object]:
    """Each table a batch writes to, in one number."""
    last = catalog.last_batch("detect")
    return [
        last.batch_id if last else None,
        sum(chunk.rows for chunk in catalog.chunks()),
        sum(counts.landed for counts in catalog.totals().values()),
        len(catalog.file_seen([f"{1:064x}"])),
        len(catalog.pending_tasks(10)),
    ]


def main(what: str, url: str, count: int = 0) -> None:
    if what == "dies":
        said = dies(url)
    else:
        work: dict[str, Callable[[SqlCatalog, int], object]] = {"commits": commits, "rolls": rolls, "opens": opens}
        with open_catalog(url) as catalog:
            said = work[what](catalog, count)
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
