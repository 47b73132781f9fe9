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
    holder,
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
    _launch(plan)
    try:
        return _await_ready(plan, progress, timeout_s)
    except BaseException:
        stop(plan.folder, plan.grace_s * len(plan.processes) + 5.0)
        raise


def _launch(plan: Plan) -> None:
    """Returns when the supervisor holds the folder."""
    file = plan.folder / "run" / "plan.json"
    write_file(file, plan.dump(), mode=0o600)  # environments may carry secrets
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    with log_file(plan.folder, "supervisor").open("ab") as output:
        launched = subprocess.run(
            [sys.executable, "-m", "moirae.adapters.platform.supervisor", "--detach", str(file)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if launched.returncode:
        raise PlatformError(_last_line(log_file(plan.folder, "supervisor")))


def _await_ready(plan: Plan, progress: Progress, timeout_s: float) -> PlatformState:
    state = None
    for state in _changes(plan, timeout_s):
        progress(state)
        if broken := next(filter(_hopeless, state.processes), None):
            raise _failure(broken)
        if state.state == "running":
            return state
    late = [each.name for each in state.processes if each.state not in ("ready", "done")] if state else []
    raise PlatformError(
        f"{plan.folder}: expected the platform ready within {timeout_s:.0f} s, but found not ready: {', '.join(late)}; "
        f"see {log_file(plan.folder, late[0] if late else 'supervisor')}"
    )


def _changes(plan: Plan, timeout_s: float) -> Iterator[PlatformState]:
    """Each new state of this run, until the time is over."""
    deadline, last = time.monotonic() + timeout_s, None
    while time.monotonic() < deadline:
        state = read_state(plan.folder)
        if state and state.run == plan.run and state != last:
            last = state
            yield state
        if not is_held(plan.folder):
            raise PlatformError(f"the supervisor ended: {_last_line(log_file(plan.folder, 'supervisor'))}")
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


def stop(data_folder: Path | str, grace_s: float = 60.0) -> bool:
    """Take the platform down; whether there was anything to take down. Leftovers of a killed one count.

    After `grace_s` the supervisor itself is killed, and its processes with it.
    """
    folder = canonical(data_folder)
    supervisor = holder(folder)
    if supervisor is not None:
        _signal(supervisor, signal.SIGTERM)
        if not wait_until(lambda: not is_held(folder), grace_s):
            _signal(supervisor, signal.SIGKILL)
    left = sweep(folder, grace_s=5.0)
    state = read_state(folder)
    if state and state.state != "stopped":
        write_state(_ended(state))
    return supervisor is not None or left > 0


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
