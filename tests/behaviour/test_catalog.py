"""What every catalog promises about statements, chunks and batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moirae.errors import CatalogError, ChunkError
from moirae.ports.catalog import (
    Append,
    BatchCommit,
    Catalog,
    Chunk,
    ChunkId,
    CommitResult,
    Counts,
    Eid,
    LandedFile,
    NewStatement,
    NewTask,
)

TRAFFIC = NewStatement("stream", "traffic", "CREATE STREAM traffic …", "f1")
BUSY = NewStatement("event", "busy", "CREATE EVENT busy …", "f2", reads=("traffic",))
USUAL = NewStatement("recall", "usual", "CREATE RECALL usual …", "f3", reads=("busy", "traffic"))


def append(
    chunk: Chunk, version: int = 0, rows: int = 10, min_at: int | None = 100, max_at: int | None = 200
) -> Append:
    return Append(chunk.stream, chunk.id, chunk.epoch, version, rows, rows * 8, min_at, max_at)


def batch(batch_id: int, *appends: Append) -> BatchCommit:
    return BatchCommit("detect", batch_id, committed_at=1000 + batch_id, appends=appends)


def filled(catalog: Catalog, stream: str = "traffic", batch_id: int = 0) -> Chunk:
    """The present chunk of a stream after one batch."""
    chunk = catalog.present_chunk(stream, "/archive", now=1)
    assert catalog.commit_batch(batch(batch_id, append(chunk))).outcome == "committed"
    return catalog.present_chunk(stream, "/archive", now=1)


def sealed(catalog: Catalog) -> Chunk:
    chunk = filled(catalog)
    catalog.roll(chunk.id, chunk.epoch, now=50)
    return catalog.chunks("traffic")[0]


# Statements


def test_deployed_statements_are_active_in_deploy_order(catalog: Catalog) -> None:
    """M9: a pack is deployed as a whole and every statement starts at version 1."""
    deployed = catalog.deploy([TRAFFIC, BUSY, USUAL], now=5)
    assert [(item.name, item.version, item.active, item.deployed_at) for item in deployed] == [
        ("traffic", 1, True, 5),
        ("busy", 1, True, 5),
        ("usual", 1, True, 5),
    ]
    assert catalog.active() == deployed
    assert deployed[2].reads == ("busy", "traffic")
    assert (deployed[0].kind, deployed[0].text, deployed[0].fingerprint) == ("stream", TRAFFIC.text, "f1")


def test_an_unchanged_statement_keeps_its_version_and_a_changed_one_gets_the_next(catalog: Catalog) -> None:
    """M9: only what changed is a new version; the old one is kept, inactive."""
    catalog.deploy([TRAFFIC, BUSY], now=5)
    again = catalog.deploy([TRAFFIC, replace(BUSY, text="new", fingerprint="f9")], now=6)
    assert [(item.name, item.version, item.deployed_at) for item in again] == [("traffic", 1, 5), ("busy", 2, 6)]
    old, new = catalog.versions("busy")
    assert (old.active, old.dropped_at, new.active, new.dropped_at) == (False, 6, True, None)


def test_a_stream_deployed_again_stays_before_its_events(catalog: Catalog) -> None:
    """M9: whoever compiles the active statements in order knows every name that is read."""
    catalog.deploy([TRAFFIC, BUSY], now=5)
    catalog.deploy([replace(TRAFFIC, fingerprint="f8")], now=6)
    assert [(item.name, item.version) for item in catalog.active()] == [("traffic", 2), ("busy", 1)]


def test_versions_count_on_after_undeploying(catalog: Catalog) -> None:
    """M9: a version number never means two texts, so neither does an eid."""
    catalog.deploy([TRAFFIC], now=5)
    dropped = catalog.undeploy("traffic", now=6)
    assert (dropped.active, dropped.dropped_at, catalog.active()) == (False, 6, [])
    assert catalog.deploy([TRAFFIC], now=7)[0].version == 2


def test_what_others_read_is_not_undeployed(catalog: Catalog) -> None:
    """M9: a stream goes after its events and an event after its recalls; the message says which."""
    catalog.deploy([TRAFFIC, BUSY, USUAL], now=5)
    with pytest.raises(
        CatalogError, match="stream 'traffic' is read by 'busy', 'usual'; undeploy 'busy', 'usual' first"
    ):
        catalog.undeploy("traffic", now=6)
    with pytest.raises(CatalogError, match="event 'busy' is read by 'usual'; undeploy 'usual' first"):
        catalog.undeploy("busy", now=6)
    for name in ("usual", "busy", "traffic"):
        catalog.undeploy(name, now=7)
    assert catalog.active() == []


def test_undeploying_what_is_not_deployed_names_what_is(catalog: Catalog) -> None:
    """M9: the remedy is in the message."""
    catalog.deploy([TRAFFIC], now=5)
    with pytest.raises(CatalogError, match="'trafic' is not deployed; deployed: 'traffic'; name one of these"):
        catalog.undeploy("trafic", now=6)


def test_a_pack_is_deployed_whole_or_not_at_all(catalog: Catalog) -> None:
    """M9: one refused statement refuses the pack."""
    with pytest.raises(CatalogError, match="recall 'usual' reads 'busy', not deployed; deploy 'busy' too"):
        catalog.deploy([TRAFFIC, USUAL], now=5)
    with pytest.raises(CatalogError, match="'traffic' is deployed twice at once"):
        catalog.deploy([TRAFFIC, TRAFFIC], now=5)
    assert (catalog.active(), catalog.program_version()) == ([], 0)


def test_the_program_version_changes_exactly_when_the_program_does(catalog: Catalog) -> None:
    """M9: a running job polls one number to learn that it must restart."""
    seen = [catalog.program_version()]
    catalog.deploy([TRAFFIC, BUSY], now=5)
    seen.append(catalog.program_version())
    catalog.undeploy("busy", now=6)
    seen.append(catalog.program_version())
    catalog.deploy([TRAFFIC], now=7)
    assert seen == [0, 1, 2]
    assert catalog.program_version() == 2


# Chunks


def test_the_first_present_chunk_is_opened_once(catalog: Catalog) -> None:
    """M7: sequence 1, generation 0, nothing in it; asking again changes nothing."""
    chunk = catalog.present_chunk("traffic", "/archive", now=7)
    assert chunk == catalog.present_chunk("traffic", "/elsewhere", now=8)
    assert (chunk.id, chunk.sequence, chunk.epoch, chunk.generation) == ("traffic/000001", 1, 1, 0)
    assert (chunk.path, chunk.state, chunk.tier, chunk.opened_at) == (
        "/archive/traffic/000001/g0",
        "open",
        "present",
        7,
    )
    assert (chunk.delta_version, chunk.rows, chunk.min_at, chunk.check_result) == (None, 0, None, "none")


def test_rolling_seals_at_the_recorded_version_and_opens_the_next(catalog: Catalog) -> None:
    """M7: the sealed chunk is pinned, the next one has the next sequence and epoch."""
    chunk = catalog.present_chunk("traffic", "s3://bucket/archive", now=1)
    catalog.commit_batch(batch(0, append(chunk, version=4)))
    following = catalog.roll(chunk.id, chunk.epoch, now=50)
    assert (following.id, following.sequence, following.epoch) == ("traffic/000002", 2, chunk.epoch + 1)
    assert (following.path, following.state) == ("s3://bucket/archive/traffic/000002/g0", "open")
    old = catalog.chunks("traffic")[0]
    assert (old.state, old.delta_version, old.sealed_at, old.rows) == ("sealed", 4, 50, 10)


def test_rolling_again_with_the_same_epoch_changes_nothing(catalog: Catalog) -> None:
    """M7: a roll that was answered late, or asked twice, is one roll."""
    chunk = filled(catalog)
    following = catalog.roll(chunk.id, chunk.epoch, now=50)
    assert catalog.roll(chunk.id, chunk.epoch, now=51) == following
    catalog.commit_batch(batch(1, append(following)))
    assert catalog.roll(following.id, chunk.epoch, now=52).id == following.id
    assert [item.state for item in catalog.chunks()] == ["sealed", "open"]


def test_an_empty_chunk_is_not_rolled(catalog: Catalog) -> None:
    """M7: a quiet stream makes no empty chunks."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    assert catalog.roll(chunk.id, chunk.epoch, now=99) == chunk


def test_an_unknown_chunk_is_named(catalog: Catalog) -> None:
    """M7: the message says which chunk and where to look."""
    with pytest.raises(ChunkError, match="chunk nosuch/000001: the catalog does not know it; see `moirae chunks`"):
        catalog.roll(ChunkId("nosuch/000001"), 1, now=1)


def test_publishing_a_generation_swings_the_pointer_and_retires_the_old_folder(catalog: Catalog) -> None:
    """P5: readers see the old folder or the new one; the old one is deleted later."""
    chunk = sealed(catalog)
    assert catalog.publish_generation(chunk.id, 0, "/archive/traffic/000001/g1", 0, 9, 70, now=60)
    new = catalog.chunks("traffic")[0]
    assert (new.generation, new.path, new.delta_version) == (1, "/archive/traffic/000001/g1", 0)
    assert (new.rows, new.bytes, new.min_at, new.state) == (9, 70, 100, "sealed")
    assert catalog.retired(before=60) == []
    assert [item.path for item in catalog.retired(before=61)] == ["/archive/traffic/000001/g0"]
    catalog.forget_retired("/archive/traffic/000001/g0")
    assert catalog.retired(before=61) == []


def test_a_generation_published_second_is_refused(catalog: Catalog) -> None:
    """P5: two compactions of one chunk: the slower one changes nothing."""
    chunk = sealed(catalog)
    assert catalog.publish_generation(chunk.id, 0, "/archive/traffic/000001/g1", 0, 10, 70, now=60)
    assert not catalog.publish_generation(chunk.id, 0, "/archive/traffic/000001/g1b", 3, 10, 71, now=61)
    assert catalog.chunks("traffic")[0].path == "/archive/traffic/000001/g1"
    assert len(catalog.retired(before=100)) == 1


def test_a_folder_that_was_used_is_never_published_again(catalog: Catalog) -> None:
    """P5: retired folders are deleted, so pointing back at one would lose rows."""
    chunk = sealed(catalog)
    catalog.publish_generation(chunk.id, 0, "/archive/traffic/000001/g1", 0, 10, 70, now=60)
    for used in ("/archive/traffic/000001/g0", "/archive/traffic/000001/g1"):
        with pytest.raises(ChunkError, match="write each generation to a new folder"):
            catalog.publish_generation(chunk.id, 1, used, 0, 10, 70, now=61)


def test_an_open_chunk_is_neither_rewritten_nor_checked_nor_moved(catalog: Catalog) -> None:
    """M7: only the stream writes to the present chunk."""
    chunk = filled(catalog)
    with pytest.raises(ChunkError, match="roll it before rewriting it"):
        catalog.publish_generation(chunk.id, 0, "/new", 0, 1, 1, now=2)
    with pytest.raises(ChunkError, match="roll it before checking it"):
        catalog.record_check(chunk.id, True, "", now=2)
    with pytest.raises(ChunkError, match="roll it before moving it"):
        catalog.set_tier(chunk.id, "recent", now=2)


def test_a_failed_chunk_is_held_until_it_passes(catalog: Catalog) -> None:
    """P4: a chunk that fails its check is not served; a repaired one is."""
    chunk = sealed(catalog)
    held = catalog.record_check(chunk.id, False, "3 rows without server", now=70)
    assert (held.state, held.check_result, held.check_reason, held.checked_at) == (
        "held",
        "failed",
        "3 rows without server",
        70,
    )
    passed = catalog.record_check(chunk.id, True, "", now=71)
    assert (passed.state, passed.check_result, passed.check_reason, passed.checked_at) == ("sealed", "passed", "", 71)


def test_a_closed_chunk_moves_through_the_tiers(catalog: Catalog) -> None:
    """M7: present, recent, old; with the time of the move."""
    chunk = sealed(catalog)
    assert (chunk.tier, chunk.tiered_at) == ("present", None)
    moved = catalog.set_tier(chunk.id, "recent", now=80)
    assert (moved.tier, moved.tiered_at) == ("recent", 80)
    assert catalog.set_tier(chunk.id, "old", now=81).tier == "old"


def test_chunks_are_listed_by_stream_and_sequence(catalog: Catalog) -> None:
    """M7: one order on every database, also for names an alphabet would sort otherwise."""
    for number, stream in enumerate(("ab", "a_b", "aa")):
        chunk = filled(catalog, stream, number)
        catalog.roll(chunk.id, chunk.epoch, now=5)
    listed = [(chunk.stream, chunk.sequence) for chunk in catalog.chunks()]
    assert listed == [("a_b", 1), ("a_b", 2), ("aa", 1), ("aa", 2), ("ab", 1), ("ab", 2)]
    assert [chunk.id for chunk in catalog.chunks(states=["sealed"])] == ["a_b/000001", "aa/000001", "ab/000001"]
    assert [chunk.id for chunk in catalog.chunks("aa", ["open", "held"])] == ["aa/000002"]


# Batches


def full_batch(chunk: Chunk, batch_id: int = 0) -> BatchCommit:
    return BatchCommit(
        job="detect",
        batch_id=batch_id,
        committed_at=1000,
        watermarks={"traffic": 140},
        positions={"traffic": 3},
        counts={"traffic": Counts(landed=12, archived=10, late=1, quarantined=1)},
        appends=[append(chunk)],
        files=[LandedFile("ab" * 32, "landing/traffic/1.csv", "traffic", 12)],
        tasks=[NewTask(Eid("e1"), "usual", 1, 150)],
    )


def test_a_batch_is_applied_whole(catalog: Catalog) -> None:
    """P3: rows, files and tasks of a batch become true together."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    assert catalog.last_batch("detect") is None
    assert catalog.commit_batch(full_batch(chunk)) == CommitResult("committed")
    last = catalog.last_batch("detect")
    assert last is not None
    assert (last.batch_id, last.committed_at, last.watermarks, last.positions) == (
        0,
        1000,
        {"traffic": 140},
        {"traffic": 3},
    )
    now = catalog.present_chunk("traffic", "/archive", now=2)
    assert (now.rows, now.bytes, now.delta_version, now.min_at, now.max_at) == (10, 80, 0, 100, 200)
    assert catalog.totals() == {"traffic": Counts(12, 10, 1, 1)}
    assert catalog.file_seen(["ab" * 32, "cd" * 32]) == {"ab" * 32: "landing/traffic/1.csv"}
    assert [(task.eid, task.recall, task.state) for task in catalog.pending_tasks(10)] == [("e1", "usual", "pending")]


def test_a_batch_replayed_changes_nothing(catalog: Catalog) -> None:
    """P3: after a crash the last batch comes again and is recognised by its number."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    catalog.commit_batch(full_batch(chunk, batch_id=5))
    before = (catalog.chunks(), catalog.totals(), catalog.last_batch("detect"))
    for batch_id in (5, 4):
        assert catalog.commit_batch(full_batch(chunk, batch_id)) == CommitResult("already")
    assert (catalog.chunks(), catalog.totals(), catalog.last_batch("detect")) == before


def test_jobs_count_their_batches_apart(catalog: Catalog) -> None:
    """P3: a back-fill and the live stream do not take each other's batches for their own."""
    assert catalog.commit_batch(batch(3)).outcome == "committed"
    assert catalog.commit_batch(replace(batch(1), job="backfill")).outcome == "committed"


def test_rows_and_times_of_a_chunk_accumulate(catalog: Catalog) -> None:
    """P3: the time range covers every row; an append without rows leaves it alone."""
    chunk = catalog.present_chunk("traffic", "/archive", now=1)
    catalog.commit_batch(batch(0, append(chunk, 0, rows=10, min_at=100, max_at=200)))
    catalog.commit_batch(batch(1, append(chunk, 1, rows=0, min_at=None, max_at=None)))
    catalog.commit_batch(batch(2, append(chunk, 2, rows=5, min_at=50, max_at=150)))
    now = catalog.present_chunk("traffic", "/archive", now=2)
    assert (now.rows, now.bytes, now.delta_version, now.min_at, now.max_at) == (15, 120, 2, 50, 200)


def test_watermarks_positions_and_totals_of_other_streams_stay(catalog: Catalog) -> None:
    """P3: a batch without rows of a stream does not forget where the stream stood."""
    first = replace(batch(0), watermarks={"a": 1, "b": 2}, positions={"a": 1}, counts={"a": Counts(landed=1)})
    second = replace(batch(1), watermarks={"b": 3}, positions={"b": 7}, counts={"b": Counts(late=2)})
    third = replace(batch(2), counts={"b": Counts(late=3), "a": Counts(landed=1)})
    for item in (first, second, third):
        catalog.commit_batch(item)
    last = catalog.last_batch("detect")
    assert last is not None
    assert (last.watermarks, last.positions) == ({"a": 1, "b": 3}, {"a": 1, "b": 7})
    assert catalog.totals() == {"a": Counts(landed=2), "b": Counts(late=5)}


def test_a_batch_for_a_rolled_chunk_changes_nothing_and_names_the_streams(catalog: Catalog) -> None:
    """P3: a zombie's rows lie above the pinned version; its batch is written again to the next chunk."""
    zombie, other = filled(catalog), filled(catalog, "logins", 1)
    following = catalog.roll(zombie.id, zombie.epoch, now=50)
    before = (catalog.chunks(), catalog.last_batch("detect"))
    stale = replace(full_batch(zombie, 2), appends=[append(other, 1), append(zombie, 1)])
    assert catalog.commit_batch(stale) == CommitResult("rolled", ("traffic",))
    assert (catalog.chunks(), catalog.last_batch("detect"), catalog.totals(), catalog.events()) == (*before, {}, [])
    again = replace(stale, appends=[append(other, 1), append(following, 0)])
    assert catalog.commit_batch(again) == CommitResult("committed")
    assert [(chunk.id, chunk.rows) for chunk in catalog.chunks()] == [
        ("logins/000001", 20),
        ("traffic/000001", 10),
        ("traffic/000002", 10),
    ]


def test_a_file_landed_twice_keeps_its_first_path(catalog: Catalog) -> None:
    """P3: the same content under another name is a duplicate of the first."""
    files = [LandedFile(f"{number:064x}", f"landing/{number}.csv", "traffic", 1) for number in range(2500)]
    catalog.commit_batch(replace(batch(0), files=files))
    catalog.commit_batch(replace(batch(1), files=[replace(files[0], path="landing/copy.csv")]))
    seen = catalog.file_seen(file.sha256 for file in files)
    assert seen == {file.sha256: file.path for file in files}
