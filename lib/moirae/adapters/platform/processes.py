"""Processes of the platform: what to run, and how to begin and end it with everything it started.

Invariant: each process leads a group of its own and carries the mark of its platform and run in its environment, as do
all its descendants, even those that left the group. So whatever becomes of the supervisor, all of a run can be found.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moirae.adapters.platform.probes import Probe, probe_fields, probe_from

MARK = "MOIRAE_PLATFORM"
NOT_FOUND = 127  # the shell's code for a program that cannot be run
_LOG_LIMIT = 32 * 2**20
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Process:
    """`env` is added to the supervisor's own. `restart=False` is a step that runs once and must end with 0.

    It is started when all in `after` are ready or done, and is ready at once if it has no probe.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Probe | None = None
    restart: bool = True
    after: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        ready = probe_fields(self.ready) if self.ready else None
        plain = {"name": self.name, "argv": list(self.argv), "env": dict(self.env), "ready": ready}
        return {**plain, "restart": self.restart, "after": list(self.after)}


def process_from(fields: dict[str, object]) -> Process:
    """
    >>> process = Process("a", ("sleep", "1"), {"X": "1"}, after=("b",))
    >>> process_from(process.fields()) == process
    True
    """
    values = {**fields, "argv": tuple(fields["argv"]), "after": tuple(fields["after"])}  # type: ignore[arg-type]
    if fields["ready"]:
        values["ready"] = probe_from(fields["ready"])  # type: ignore[arg-type]
    return Process(**values)  # type: ignore[arg-type]


def mark(folder: Path, run: str) -> str:
    return f"{run}@{folder}"


def spawn(process: Process, log: Path, marked: str) -> subprocess.Popen[bytes] | None:
    """Start it with its output appended to `log`; none if the program cannot be run, the log saying why."""
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_name(f"{log.name}.1"))
    if process.ready:
        process.ready.reset()
    environment = {**os.environ, **process.env, MARK: marked}
    with log.open("ab") as output:
        try:
            return subprocess.Popen(
                process.argv,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"{process.argv[0]}: cannot be run: {error.strerror}\n".encode())
            return None


def signal_group(group: int, number: int) -> bool:
    """Whether there was anyone to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def wait_until(settled: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not settled():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True


def end_group(process: subprocess.Popen[bytes], grace_s: float) -> int:
    """Ask the group to end, then make it; returns the leader's exit code."""
    signal_group(process.pid, signal.SIGTERM)
    wait_until(lambda: process.poll() is not None, grace_s)
    signal_group(process.pid, signal.SIGKILL)  # the leader if it would not, and those it left behind
    return process.wait()


def marked_processes(folder: Path, run: str | None = None) -> list[int]:
    """All processes of the platform in `folder`, or of one of its runs. None where the system has no /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        pid = int(entry.parent.name)
        if pid != os.getpid() and _carries(entry, folder, run):
            found.append(pid)
    return sorted(found)


def _carries(environ: Path, folder: Path, run: str | None) -> bool:
    start = f"{MARK}=" if run is None else f"{MARK}={mark(folder, run)}"
    try:
        variables = environ.read_bytes().split(b"\0")
    except OSError:  # another user's, or just ended
        return False
    return any(each.startswith(start.encode()) and each.endswith(os.fsencode(f"@{folder}")) for each in variables)


def sweep(folder: Path, run: str | None = None, grace_s: float = 10.0) -> int:
    """End whatever still runs of a run that lost its supervisor; returns how many processes there were."""
    left = marked_processes(folder, run)
    _signal_all(left, signal.SIGTERM)
    if left and not wait_until(lambda: not marked_processes(folder, run), grace_s):
        _signal_all(marked_processes(folder, run), signal.SIGKILL)
        wait_until(lambda: not marked_processes(folder, run), 5.0)
    return len(left)


def _signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue
