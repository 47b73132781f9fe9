"""The always-on recall application: new events in, answers revised turn by turn, every revision kept on Delta."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from moirae.adapters.answers import AnswersTable
from moirae.adapters.delta.reader import CachingChunkReader
from moirae.adapters.spark.deployment import load_deployment
from moirae.config import Config
from moirae.ports.catalog import Catalog
from moirae.recall.manager import ActiveRecall, RecallManager

JOB = "recall_history"
log = logging.getLogger(JOB)
_BEAT_US = 2_000_000
_PUBLISH_US = 2_000_000  # few larger appends; those who cannot wait read the catalog


class RecallHistory:
    def __init__(
        self, catalog: Catalog, config: Config, clock: Callable[[], int] = lambda: time.time_ns() // 1000
    ) -> None:
        self.catalog, self.config, self.clock = catalog, config, clock
        self._program = -1
        self._beat_at = self._published_at = 0
        self.answers = AnswersTable(catalog, f"{config.store.place}/answers")
        self.manager = RecallManager(catalog, CachingChunkReader(), {}, clock, config.recall.turn_batch)

    def run(self, stop: threading.Event, ready: Path | None = None) -> None:
        """Take turns until `stop` is set; sleep while nothing waits."""
        if ready is not None:
            ready.touch()
        served = 0
        while not stop.is_set():
            taken = self.turn()
            served += taken
            self._publish()
            self._beat(served)
            if not taken:
                stop.wait(self.config.recall.poll / 1e6)
        self.answers.publish()

    def turn(self) -> int:
        version = self.catalog.program_version()
        if version != self._program:
            self.manager.recalls = self._active()
            self._program = version
        return self.manager.turn()

    def _active(self) -> dict[tuple[str, int], ActiveRecall]:
        deployment = load_deployment(self.catalog)
        return {
            (recall.name, deployment.versions[recall.name]): ActiveRecall(
                recall, deployment.versions[recall.name], deployment.streams[recall.stream]
            )
            for recall in deployment.pack.recalls
        }

    def _publish(self) -> None:
        now = self.clock()
        if now - self._published_at >= _PUBLISH_US:
            self._published_at = now
            self.answers.publish()

    def _beat(self, served: int) -> None:
        now = self.clock()
        if now - self._beat_at >= _BEAT_US:
            self._beat_at = now
            self.catalog.beat(JOB, os.getpid(), "running", json.dumps({"turns": served}), now)
