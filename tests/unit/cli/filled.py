"""A store as an on-call engineer finds it: a pack deployed, chunks in every tier, answers complete and under way."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.deploy import pack_statements
from moirae.lang import bind
from moirae.ports.catalog import (
    Append,
    BatchCommit,
    Counts,
    Eid,
    LiveEvent,
    NewTask,
    Revision,
    RevisionOp,
    TaskState,
    TurnSaved,
)

SECOND = 1_000_000
HOUR, DAY = 3600 * SECOND, 86_400 * SECOND
NOW = int(datetime(2026, 7, 6, 12, tzinfo=UTC).timestamp()) * SECOND
DONE, ASKING, WAITING = Eid("aaaa11112222333344445555"), Eid("bbbb11112222"), Eid("bbbb99998888")

PACK = """
CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT)
ORDER BY at LATENESS '1 minute' FROM LANDING 'traffic';

CREATE EVENT large AS SELECT server, bytes FROM traffic WHERE bytes > 900;

CREATE RECALL usual FOR large e OVER LAST '10 days'
AS SELECT avg(h.bytes) AS mean, max(h.at) AS last_seen FROM HISTORY(traffic) h WHERE h.server = e.server;
"""


def catalog_at(store: Path) -> SqlCatalog:
    return open_catalog(f"sqlite:///{store}/catalog.db")


def fill(store: Path) -> None:
    """Everything at once; each part can also be had alone."""
    with catalog_at(store) as catalog:
        deploy(catalog)
        land_rows(catalog)
        find_events(catalog)
        answer_events(catalog)
        work(catalog)


def deploy(catalog: SqlCatalog, pack: str = PACK) -> None:
    catalog.deploy(pack_statements(bind(pack)), NOW - 20 * DAY)


def land_rows(catalog: SqlCatalog) -> None:
    """Four chunks of ten rows, a day each: old, recent, held back, present. One row came late, two were refused."""
    for number in range(4):
        start = NOW - (4 - number) * DAY
        chunk = catalog.present_chunk("traffic", "/archive", start)
        rows = Append("traffic", chunk.id, chunk.epoch, number, 10, 2048, start, start + DAY - SECOND)
        counts = Counts(landed=11, archived=10, late=1) if number else Counts(landed=12, archived=10, quarantined=2)
        catalog.commit_batch(
            BatchCommit(
                "detect_events",
                number,
                NOW - (4 - number) * SECOND,
                watermarks={"traffic": start + DAY - SECOND},
                counts={"traffic": counts},
                appends=[rows],
            )
        )
        if number < 3:
            catalog.roll(chunk.id, chunk.epoch, NOW - DAY)
    old, recent, held, _ = catalog.chunks()
    for chunk in (old, recent):
        catalog.record_check(chunk.id, True, "", NOW - HOUR)
    catalog.record_check(held.id, False, "3 of 10 rows break bytes >= 0", NOW - HOUR)
    catalog.set_tier(old.id, "old", NOW - HOUR)
    catalog.set_tier(recent.id, "recent", NOW - HOUR)


def find_events(catalog: SqlCatalog) -> None:
    """Three events of `large`, a minute apart, each with its recall to do."""
    eids = (DONE, ASKING, WAITING)
    events = [
        LiveEvent(eid, "large", 1, at, json.dumps({"server": f"srv-{n:02d}", "bytes": 1000 + n}), 4, NOW - 5 * SECOND)
        for n, (eid, at) in enumerate(
            zip(eids, (NOW - 180 * SECOND, NOW - 120 * SECOND, NOW - 60 * SECOND), strict=True)
        )
    ]
    tasks = [NewTask(event.eid, "usual", 1, event.at) for event in events]
    catalog.upsert_events(events)
    catalog.commit_batch(BatchCommit("detect_events", 4, NOW - SECOND, tasks=tasks))


def answer_events(catalog: SqlCatalog) -> None:
    catalog.save_turns(
        [turn(DONE, complete=True, days=3, mean=500.0), turn(ASKING, complete=False, days=1, mean=420.0)]
    )


def turn(eid: Eid, *, complete: bool, days: float, mean: float, seq: int = 1) -> TurnSaved:
    """An answer that covers so many days before the event."""
    at = NOW - (180 if eid == DONE else 120) * SECOND
    covered_from = at - round(days * DAY)
    answer = json.dumps({"rows": [{"mean": mean, "last_seen": at - HOUR}], "held_back": ["traffic/000003"]})
    kind: RevisionOp = "insert" if seq == 1 else "update"
    revision = Revision(eid, "usual", 1, seq, kind, at, covered_from, at, seq, complete, answer, NOW - SECOND)
    state: TaskState = "complete" if complete else "running"
    return TurnSaved(eid, "usual", 1, state, seq, covered_from, at, b"", NOW, revisions=(revision,))


def work(catalog: SqlCatalog) -> None:
    """Signs of life, a run that ended and one that goes on."""
    batch = {"batch": 4, "rows": 11, "events": 3, "took_s": 0.25}
    catalog.beat("detect_events", 4242, "running", json.dumps(batch), NOW - 2 * SECOND)
    run = catalog.start_run("lifecycle", "check_chunks", "{}", NOW - HOUR)
    catalog.finish_run(run, "done", json.dumps({"checked": 3, "held": 1}), NOW - HOUR + 90 * SECOND)
    catalog.start_run("lifecycle", "compact_chunks", json.dumps({"stream": "traffic"}), NOW - 60 * SECOND)
