"""The pacer writes what history would have written, when its time has come."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from moirae.errors import ConfigError
from moirae.simulator import STREAMS, LivePacer, Spec, write_history
from moirae.simulator.spec import DAY, HOUR, MINUTE, SECOND

MONDAY = 20_640 * DAY
SPEC = Spec(
    seed=8,
    start_us=MONDAY + 23 * HOUR,
    end_us=MONDAY + 25 * HOUR,
    servers=12,
    late_rate=0.05,
    malformed_rate=0.02,
    incidents_at_least=1,
)


@dataclass
class HandClock:
    """Moves only when somebody sleeps; `slow` seconds pass besides in every sleep."""

    now: float = 100.0
    slow: float = 0.0
    naps: list[float] = field(default_factory=list)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds + self.slow


def pacer(folder: Path, clock: HandClock, speed: float = 60.0) -> LivePacer:
    return LivePacer(spec=SPEC, folder=folder, speed=speed, clock=clock.read, sleep=clock.sleep)


def content(folder: Path, stream: str) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((folder / stream).iterdir()))


@pytest.mark.parametrize("slow", [0.0, 0.37, 11.0])
def test_live_and_history_write_the_same_lines(tmp_path: Path, slow: float) -> None:
    """M1: same bytes in the same order, however the ticks fall."""
    live = pacer(tmp_path / "live" / "landing", HandClock(slow=slow)).run()
    past = write_history(SPEC, tmp_path / "past" / "landing")
    for stream in STREAMS:
        assert content(tmp_path / "live" / "landing", stream) == content(tmp_path / "past" / "landing", stream)
        assert replace(live.streams[stream], files=0) == replace(past.streams[stream], files=0)
    assert live.complete


def test_two_hours_at_speed_sixty_take_two_minutes(tmp_path: Path) -> None:
    """P8: a tick a second, a minute of simulated time each."""
    clock = HandClock()
    written = pacer(tmp_path / "landing", clock).run()
    assert clock.now == pytest.approx(100 + 120)
    assert len(clock.naps) == 120
    assert written.streams["traffic"].files == 120


def test_no_line_is_written_before_its_time(tmp_path: Path) -> None:
    """P2: at every tick, the files hold only what has happened by then."""
    clock = HandClock()
    landing = tmp_path / "landing"

    def stop() -> bool:
        reached = SPEC.start_us + round((clock.now - 100) * 60) * SECOND
        newest = max(landing.rglob("traffic-*"), default=None)
        if newest is not None:
            assert newest.stat().st_mtime_ns // 1000 < reached
        return False

    pacer(landing, clock).run(stop)


def test_a_stopped_run_tells_what_it_wrote(tmp_path: Path) -> None:
    """P8: counts of the truth file are those of the files there are."""
    clock = HandClock()
    written = pacer(tmp_path / "landing", clock).run(lambda: clock.now >= 130)
    assert not written.complete
    truth = json.loads((tmp_path / "truth-live.json").read_text("utf-8"))
    assert truth["complete"] is False
    for stream in STREAMS:
        assert truth["streams"][stream]["lines"] == content(tmp_path / "landing", stream).count(b"\n")


def test_the_truth_is_there_before_the_first_tick(tmp_path: Path) -> None:
    """P8: a run that is killed leaves its incidents behind."""
    pacer(tmp_path / "landing", HandClock()).run(lambda: True)
    truth = json.loads((tmp_path / "truth-live.json").read_text("utf-8"))
    assert {entry["kind"] for entry in truth["incidents"] if entry["detectable"]} == set(truth["signatures"])
    assert (tmp_path / "tables" / "servers.csv").exists()


def test_live_files_follow_those_of_the_history(tmp_path: Path) -> None:
    """P2: one order by name and by time of change over both."""
    landing = tmp_path / "landing"
    write_history(replace(SPEC, start_us=MONDAY + 22 * HOUR, end_us=SPEC.start_us, incidents_at_least=0), landing)
    before = {path for stream in STREAMS for path in (landing / stream).iterdir()}
    pacer(landing, HandClock(), speed=600).run()
    for stream in STREAMS:
        paths = sorted((landing / stream).iterdir())
        times = [path.stat().st_mtime_ns // 1_000_000 for path in paths]
        assert times == sorted(set(times))
        assert {path for path in paths if path in before} == set(paths[: len([p for p in paths if p in before])])


def test_a_pace_of_nought_is_refused(tmp_path: Path) -> None:
    """P8: the key and the remedy are named."""
    with pytest.raises(ConfigError, match=r"speed: is 0.*above 0"):
        LivePacer(spec=SPEC, folder=tmp_path, speed=0)


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    """P8: simulated time done, of all there is."""
    told: list[tuple[int, int]] = []
    clock = HandClock()
    slow = replace(pacer(tmp_path / "landing", clock), tick_s=10.0, progress=lambda *done: told.append(done))
    slow.run()
    assert told[0] == (10 * MINUTE, 2 * HOUR)
    assert told[-1] == (2 * HOUR, 2 * HOUR)
