"""Files without a byte. Spark does not read them, yet remembers their names: what is written into one later is lost.

So they are put into quarantine, where somebody sees them, each under a transaction of its own name: once, whatever
happens in between.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pyarrow import fs

from moirae.adapters.batch.tables import QUARANTINE, quarantined
from moirae.adapters.delta import commit_files, write_file
from moirae.adapters.storage import locate
from moirae.engine.pieces import EMPTY, bad_lines
from moirae.ingest import is_waiting, stream_of
from moirae.ports.catalog import BatchCommit, Catalog, Counts, LandedFile

JOB = "empty_files"
_QUIET_US = 5_000_000  # a file made this short a time ago may still be written


@dataclass(frozen=True, slots=True)
class EmptyFiles:
    """`sources` gives a stream's name by the folder its files land in; an unknown folder keeps its own."""

    catalog: Catalog
    landing: str
    quarantine: str

    def refuse(self, sources: dict[str, str], now: int) -> int:
        """Put aside those not yet known; how many."""
        found = {_digest(path): path for path in self._find(now)}
        known = self.catalog.file_seen(found)
        fresh = {digest: path for digest, path in found.items() if digest not in known}
        for digest, path in fresh.items():
            source = stream_of(path, self.landing)
            self._refuse(digest, path, sources.get(source, source), now)
        return len(fresh)

    def _find(self, now: int) -> list[str]:
        system, root = locate(self.landing)
        infos = system.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
        files = (info for info in infos if info.type == fs.FileType.File and not info.size)
        return [info.path for info in files if not is_waiting(info.path) and info.mtime_ns // 1000 < now - _QUIET_US]

    def _refuse(self, digest: str, path: str, stream: str, now: int) -> None:
        last = self.catalog.last_batch(JOB)
        number = 0 if last is None else last.batch_id + 1
        file = write_file(self.quarantine, quarantined(stream, path, bad_lines([0], [""], [EMPTY]), number))
        commit_files(self.quarantine, QUARANTINE, [file], f"{JOB} {digest}", 0)
        counts = {stream: Counts(landed=1, quarantined=1)}
        self.catalog.commit_batch(
            BatchCommit(JOB, number, now, counts=counts, files=[LandedFile(digest, path, stream, 0)])
        )


def _digest(path: str) -> str:
    return hashlib.sha256(f"empty {path}".encode()).hexdigest()
