"""What is known of a platform from outside: its state file, and the lock its supervisor holds for life.

The lock, not the file, says whether the platform runs: the kernel takes it away from a dead supervisor, so a file left
by one that was killed, or a process number used again, deceives nobody. The file is replaced whole, never half written.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from moirae.adapters.platform.processes import wait_until
from moirae.errors import PlatformError


@dataclass(frozen=True, slots=True)
class ProcessState:
    name: str
    state: str
    pid: int | None
    log: str
    started_at_us: int
    restarts: int
    exit_code: int | None
    failures: int = 0
    was_ready: bool = False


@dataclass(frozen=True, slots=True)
class PlatformState:
    """`alive` is found when read: whether a supervisor holds the folder now."""

    folder: str
    run: str
    pid: int
    state: str  # starting, running, stopping, stopped
    started_at_us: int
    addresses: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[ProcessState, ...] = ()
    alive: bool = False

    def process(self, name: str) -> ProcessState | None:
        return next((each for each in self.processes if each.name == name), None)


def canonical(folder: Path | str) -> Path:
    """One name for one folder, however it was reached: processes are found by it."""
    return Path(os.path.realpath(folder))


def state_file(folder: Path) -> Path:
    return folder / "run" / "platform.json"


def log_file(folder: Path, name: str) -> Path:
    return folder / "logs" / f"{name}.log"


def prepare_folder(folder: Path) -> None:
    """Make the folder, or say in one line why it cannot be used."""
    try:
        for part in ("run", "logs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
            probe = folder / part / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
    except OSError as error:
        raise PlatformError(
            f"{folder}: expected a folder that can be written, but found: {error.strerror}; "
            "name another folder in store.root, or change this one's permissions"
        ) from error


def write_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace the file whole; nobody else sees it before, not even for an instant with wider permissions."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)
    temporary.replace(path)


def write_state(state: PlatformState) -> None:
    fields = asdict(state)
    del fields["alive"]
    write_file(state_file(Path(state.folder)), json.dumps(fields, indent=1) + "\n")


def read_state(data_folder: Path | str) -> PlatformState | None:
    """The platform's state, or none if it was never up in this folder."""
    folder = canonical(data_folder)
    try:
        fields = json.loads(state_file(folder).read_text())
        processes = tuple(ProcessState(**each) for each in fields.pop("processes"))
        return PlatformState(**fields, processes=processes, alive=is_held(folder))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise PlatformError(
            f"{state_file(folder)}: expected the platform's state, but found: {error}; "
            "end the platform's processes if any still run, and delete the file"
        ) from error


@contextmanager
def hold(folder: Path, patience_s: float = 1.0) -> Iterator[int]:
    """Be the one supervisor of the folder. A reader asking `is_held` holds it for an instant, hence the patience."""
    descriptor = os.open(_lock_file(folder), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not wait_until(lambda: _try_lock(descriptor, fcntl.LOCK_EX), patience_s):
            raise already_up(folder)
        record_holder(descriptor, os.getpid())
        yield descriptor
    finally:
        os.close(descriptor)


def record_holder(lock: int, pid: int) -> None:
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{pid}\n".encode(), 0)


def holder(folder: Path) -> int | None:
    """The supervisor that holds the folder now."""
    if not is_held(folder):
        return None
    text = _lock_file(folder).read_text().strip()
    return int(text) if text else None


def _lock_file(folder: Path) -> Path:
    return folder / "run" / "supervisor.lock"


def already_up(folder: Path) -> PlatformError:
    return PlatformError(
        f"{folder}: expected no platform here, but found one running; "
        "take it down with `moirae down`, or name another folder in store.root"
    )


def is_held(folder: Path) -> bool:
    try:
        descriptor = os.open(_lock_file(folder), os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
