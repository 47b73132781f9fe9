"""The one process that keeps the platform's processes alive.

    python -m moirae.adapters.platform.supervisor [--detach] DATA/run/plan.json

Invariants: while it holds the folder's lock, every process of the plan is running, waiting for others, or due to be
restarted; the state file shows it. When it ends, in whatever way, all that it started ends too: by its own hand in
reverse order, or, if it was killed, by the hand of a guard that waits at the other end of a pipe.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from moirae.adapters.platform.guard import Guard
from moirae.adapters.platform.plan import Plan, load_plan
from moirae.adapters.platform.processes import NOT_FOUND, Process, end_group, mark, signal_group, spawn, sweep
from moirae.adapters.platform.restarts import (
    RUNNING,
    SETTLED,
    Backoff,
    Life,
    State,
    become_ready,
    begin,
    end,
    may_start,
)
from moirae.adapters.platform.state import (
    PlatformState,
    ProcessState,
    hold,
    log_file,
    prepare_folder,
    record_holder,
    write_state,
)
from moirae.errors import MoiraeError

log = logging.getLogger("supervisor")
_TICK_S = 0.2
_PROBE_EVERY_S = 0.5


@dataclass(slots=True)
class Supervisor:
    """`lives` is what is decided from, `children` the handles it is carried out with."""

    plan: Plan
    backoff: Backoff = field(default_factory=Backoff)
    lives: dict[str, Life] = field(default_factory=dict)
    children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    stopping: bool = False
    written: PlatformState | None = None
    began_us: int = field(default_factory=lambda: time.time_ns() // 1000)
    probed_s: float = 0.0

    def run(self, lock: int) -> int:
        """Keep the platform up until told to stop. `lock` is the folder's, held by the caller."""
        plan = self.plan
        guard = Guard.start(plan, lock)
        self.lives = {process.name: Life() for process in plan.processes}
        self._show("starting")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        if left := sweep(plan.folder):
            log.warning("processes of an earlier run ended count=%d", left)
        while not self.stopping:
            self.step(time.monotonic())
            time.sleep(_TICK_S)
        self.stop()
        guard.dismiss()
        return 0

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping = True

    def step(self, now_s: float) -> None:
        """One look at everything: bury, probe, start, show."""
        probing = now_s - self.probed_s >= _PROBE_EVERY_S
        self.probed_s = now_s if probing else self.probed_s
        for process in self.plan.processes:
            life = self.lives[process.name]
            if life.state in RUNNING:
                life = self._look_after(process, life, now_s, probing)
            elif may_start(life, process.after, self.lives, now_s):
                life = self._start(process, life, now_s)
            self.lives[process.name] = life
        self._show("running" if self._all_came_up() else "starting")

    def _all_came_up(self) -> bool:
        return all(life.was_ready or life.state in SETTLED for life in self.lives.values())

    def _look_after(self, process: Process, life: Life, now_s: float, probing: bool) -> Life:
        code = self.children[process.name].poll()
        if code is not None:
            signal_group(self.children.pop(process.name).pid, signal.SIGKILL)  # nobody outlives the leader
            log.log(logging.WARNING if code else logging.INFO, "process ended name=%s code=%d", process.name, code)
            return end(life, code, process.restart, self.backoff, now_s)
        if life.state is State.STARTING and process.restart and probing and (not process.ready or process.ready()):
            log.info("process ready name=%s took_s=%.1f", process.name, now_s - life.began_s)
            return become_ready(life)
        return life

    def _start(self, process: Process, life: Life, now_s: float) -> Life:
        child = spawn(process, log_file(self.plan.folder, process.name), mark(self.plan.folder, self.plan.run))
        if child is None:
            return end(life, NOT_FOUND, process.restart, self.backoff, now_s)
        self.children[process.name] = child
        log.info("process started name=%s pid=%d", process.name, child.pid)
        return begin(life, child.pid, now_s, time.time_ns() // 1000)

    def stop(self) -> None:
        """End all in reverse order, each with its own grace: a stubborn one takes nothing from the others."""
        self._show("stopping")
        for name in reversed([process.name for process in self.plan.processes]):
            life = self.lives[name]
            if child := self.children.pop(name, None):
                code = end_group(child, self.plan.grace_s)
                log.info("process stopped name=%s code=%d", name, code)
                life = replace(life, exit_code=code)
            if life.state not in (State.DONE, State.FAILED):
                self.lives[name] = replace(life, state=State.STOPPED, pid=None)
            self._show("stopping")
        sweep(self.plan.folder, self.plan.run, grace_s=1.0)
        self._show("stopped")

    def _show(self, state: str) -> None:
        now = platform_state(self.plan, self.lives, state, self.began_us)
        if now != self.written:
            write_state(now)
            self.written = now


def platform_state(plan: Plan, lives: Mapping[str, Life], state: str, began_us: int) -> PlatformState:
    processes = tuple(
        ProcessState(
            name,
            str(life.state),
            life.pid,
            str(log_file(plan.folder, name)),
            life.began_us,
            life.restarts,
            life.exit_code,
            life.failures,
            life.was_ready,
        )
        for name, life in lives.items()
    )
    return PlatformState(str(plan.folder), plan.run, os.getpid(), state, began_us, dict(plan.addresses), processes)


def main(argv: list[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    *options, path = sys.argv[1:] if argv is None else argv
    try:
        plan = load_plan(Path(path).read_text())
        prepare_folder(plan.folder)
        with hold(plan.folder) as lock:
            if "--detach" in options:
                _detach(lock)
            return Supervisor(plan).run(lock)
    except MoiraeError as error:
        log.error("%s", error)
        return 1


def _detach(lock: int) -> None:
    """Go on as a child of nobody. Who started us sees us end when the folder is taken, and in whose name."""
    if child := os.fork():
        record_holder(lock, child)
        os._exit(0)
    os.setsid()


if __name__ == "__main__":
    sys.exit(main())
