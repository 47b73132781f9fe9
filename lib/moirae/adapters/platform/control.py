"""Bringing a platform up in the background, and down again, from any other process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from moirae.adapters.platform.plan import Plan
from moirae.adapters.platform.processes import MARK, sweep, wait_until
from moirae.adapters.platform.state import (
    PlatformState,
    ProcessState,
    already_up,
    canonical,
    is_held,
    log_file,
    prepare_folder,
    read_state,
    write_file,
    write_state,
)
from moirae.errors import PlatformError

Progress = Callable[[PlatformState], None]
_POLL_S = 0.1
_TRIES = 3  # deaths before its first readiness after which a start is given up


def start_detached(plan: Plan, progress: Progress = lambda state: None, timeout_s: float = 180.0) -> PlatformState:
    """Start a supervisor that outlives this process, and wait until all of the plan is ready.

    `progress` is called whenever something changed. If the start fails, what was started is taken down again.
    """
    plan = replace(plan, folder=canonical(plan.folder))
    prepare_folder(plan.folder)
    if is_held(plan.folder):
        raise already_up(plan.folder)
    supervisor = _launch(plan)
    try:
        return _await_ready(plan, supervisor, progress, timeout_s)
    except BaseException:
        supervisor.send_signal(signal.SIGTERM)  # does nothing if it has ended
        if not wait_until(lambda: supervisor.poll() is not None, plan.grace_s + 5.0):
            supervisor.kill()
        raise


def _launch(plan: Plan) -> subprocess.Popen[bytes]:
    file = plan.folder / "run" / f"plan-{plan.run}.json"
    write_file(file, plan.dump(), mode=0o600)  # environments may carry secrets
    for old in file.parent.glob("plan-*.json"):
        if old != file:
            old.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    with log_file(plan.folder, "supervisor").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "moirae.adapters.platform.supervisor", str(file)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _await_ready(
    plan: Plan, supervisor: subprocess.Popen[bytes], progress: Progress, timeout_s: float
) -> PlatformState:
    deadline = time.monotonic() + timeout_s
    state = None
    for state in _changes(plan, supervisor, deadline):
        progress(state)
        if broken := next(filter(_hopeless, state.processes), None):
            raise _failure(broken)
        if state.state == "running":
            return state
    late = [each.name for each in state.processes if each.state not in ("ready", "done")] if state else ["supervisor"]
    raise PlatformError(
        f"{plan.folder}: expected the platform ready within {timeout_s:.0f} s, but found {', '.join(late)} not ready; "
        f"see {log_file(plan.folder, late[0])}"
    )


def _changes(plan: Plan, supervisor: subprocess.Popen[bytes], deadline: float) -> Iterator[PlatformState]:
    """Each new state of this run, until the deadline."""
    last = None
    while time.monotonic() < deadline:
        if supervisor.poll() is not None:
            raise PlatformError(_last_line(log_file(plan.folder, "supervisor")))
        state = read_state(plan.folder)
        if state and state.run == plan.run and state != last:
            last = state
            yield state
        time.sleep(_POLL_S)


def _hopeless(process: ProcessState) -> bool:
    return process.state == "failed" or (not process.was_ready and process.failures >= _TRIES)


def _failure(process: ProcessState) -> PlatformError:
    return PlatformError(
        f"process {process.name}: expected it to start, but it ended with code {process.exit_code}: "
        f"{_last_line(Path(process.log))}; see {process.log}"
    )


def _last_line(path: Path) -> str:
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].rpartition(" ERROR ")[2] if lines else "it said nothing"


def stop(data_folder: Path | str, grace_s: float = 30.0) -> bool:
    """Take the platform down; whether there was anything to take down. Leftovers of a killed one count."""
    folder = canonical(data_folder)
    state = read_state(folder)
    if state is None:
        return False
    was_up = state.alive
    if was_up:
        _signal(state.pid, signal.SIGTERM)
        if not wait_until(lambda: not is_held(folder), grace_s):
            _signal(state.pid, signal.SIGKILL)
    left = sweep(folder, grace_s=5.0)
    state = read_state(folder)
    if state and state.state != "stopped":
        write_state(_ended(state))
    return was_up or left > 0


def _ended(state: PlatformState) -> PlatformState:
    ended = tuple(
        each if each.state in ("done", "failed") else replace(each, state="stopped", pid=None)
        for each in state.processes
    )
    return replace(state, state="stopped", processes=ended)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
