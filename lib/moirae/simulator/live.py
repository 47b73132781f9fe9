"""Paces the present: every tick, one file a stream with the lines of the simulated time that has passed.

The lines are those `write_history` would write for the same spec, in the same order; only the files are cut elsewhere.
The clock and the sleep come in, so a test winds them by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from moirae.errors import ConfigError
from moirae.simulator.arrivals import Feed
from moirae.simulator.files import Landing, Progress, newest_ms, put, silent, write_servers
from moirae.simulator.spec import SECOND, STREAMS, Spec
from moirae.simulator.truth import Counts, Written, truth_text
from moirae.simulator.world import World


def never() -> bool:
    """Nobody asks to stop."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePacer:
    """`speed` simulated seconds a second. `truth` is `truth-live.json` beside `folder` unless said otherwise.

    The truth file is there from the first tick, with `complete` false until the end of the span is reached.
    """

    spec: Spec
    folder: Path
    speed: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    tick_s: float = 1.0
    tables: Path | None = None
    truth: Path | None = None
    progress: Progress = field(default=silent)

    def __post_init__(self) -> None:
        for key, value in (("speed", self.speed), ("tick_s", self.tick_s)):
            if not value > 0:
                raise ConfigError("simulator", key, f"is {value}", "give a number above 0")

    def run(self, stop: Callable[[], bool] = never) -> Written:
        """Until the end of the span, or until `stop()` says so, which is asked before every tick."""
        world, landing = World.of(self.spec), Landing(self.folder, self.spec.format, newest_ms(self.folder))
        feeds = {stream: Feed(world, stream) for stream in STREAMS}
        truth = self.truth or self.folder.parent / "truth-live.json"
        written = self._note(world, Written(truth, {stream: Counts() for stream in STREAMS}, complete=False))
        write_servers(self.spec, self.tables or self.folder.parent / "tables")
        began, reached = self.clock(), self.spec.start_us
        while reached < self.spec.end_us and not stop():
            self._wait(began, reached)
            reached = self._now(began)
            written = self._tick(landing, feeds, reached, written)
        return self._note(world, replace(written, complete=reached >= self.spec.end_us))

    def _now(self, began: float) -> int:
        passed = round((self.clock() - began) * self.speed * SECOND)
        return min(self.spec.end_us, self.spec.start_us + passed)

    def _wait(self, began: float, reached: int) -> None:
        """Until a tick after the time reached, or the end if that is sooner; no wait if the writer is behind."""
        until = min(self.spec.end_us, reached + round(self.tick_s * self.speed * SECOND))
        left = began + (until - self.spec.start_us) / SECOND / self.speed - self.clock()
        if left > 0:
            self.sleep(left)

    def _tick(self, landing: Landing, feeds: dict[str, Feed], reached: int, written: Written) -> Written:
        for stream, feed in feeds.items():
            lines = feed.until(reached)
            if len(lines):
                landing.write(stream, lines)
                written = written.plus(stream, lines)
        self.progress(reached - self.spec.start_us, self.spec.span_us)
        return written

    def _note(self, world: World, written: Written) -> Written:
        put(written.truth, truth_text(world, written).encode())
        return written
