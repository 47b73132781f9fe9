"""The supervisor with real, small processes: start, crash, stop, kill, and a second one in the same folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moirae.adapters.platform import FileWritten, Plan, PlatformState, Process, read_state, start_detached, stop
from moirae.adapters.platform.ports import choose_port, free_port, is_free
from moirae.adapters.platform.processes import marked_processes
from moirae.adapters.platform.state import canonical, state_file
from moirae.errors import PlatformError

SLEEP = "import time; time.sleep(600)"


def python(name: str, code: str, ready: FileWritten | None = None, restart: bool = True, **rest: str) -> Process:
    return Process(name, (sys.executable, "-S", "-c", code), {"COLOUR": "blue"}, ready, restart, tuple(rest.values()))


def plan(folder: Path, *processes: Process, run: str = "run1", grace_s: float = 3.0) -> Plan:
    return Plan(folder, run, processes, {"pages": "http://127.0.0.1:1"}, grace_s)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "data"
    yield data
    if data.is_dir():
        stop(data, grace_s=5.0)
        assert marked_processes(canonical(data)) == []


def wait_for(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def known(folder: Path) -> PlatformState:
    state = read_state(folder)
    assert state is not None
    return state


def pid_of(folder: Path, name: str) -> int | None:
    process = known(folder).process(name)
    assert process is not None
    return process.pid


def test_processes_start_in_order_and_the_state_file_shows_them(folder: Path) -> None:
    """P7: `up` waits until all are ready, and says what runs where."""
    ready = FileWritten(str(folder / "run" / "b.ready"))
    first = python("first", "import os; print('migrated', os.environ['COLOUR'])", restart=False)
    second = python("second", f"print('hello', flush=True); open({ready.path!r}, 'w'); {SLEEP}", ready, on="first")
    seen: list[PlatformState] = []
    state = start_detached(plan(folder, first, second), seen.append, timeout_s=20)
    assert state.alive
    assert state.state == "running"
    assert state.addresses == {"pages": "http://127.0.0.1:1"}
    assert [(each.name, each.state) for each in state.processes] == [("first", "done"), ("second", "ready")]
    assert (folder / "logs" / "first.log").read_text() == "migrated blue\n"
    assert (folder / "logs" / "second.log").read_text() == "hello\n"
    assert seen[0].process("second").state == "waiting"  # type: ignore[union-attr]
    assert os.path.exists(f"/proc/{pid_of(folder, 'second')}")


def test_a_stale_ready_file_does_not_count(folder: Path) -> None:
    """P7: readiness is of this life, not of the one before."""
    (folder / "run").mkdir(parents=True)
    ready = folder / "run" / "a.ready"
    ready.write_text("old")
    with pytest.raises(PlatformError, match=r"not ready: a; see .*a.log"):
        start_detached(plan(folder, python("a", SLEEP, FileWritten(str(ready)))), timeout_s=1.5)
    assert not known(folder).alive


def test_a_process_that_dies_is_restarted(folder: Path) -> None:
    """P7: a crash is not the end of the platform."""
    start_detached(plan(folder, python("a", SLEEP), python("b", SLEEP)), timeout_s=20)
    first, other = pid_of(folder, "a"), pid_of(folder, "b")
    assert first
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: pid_of(folder, "a") not in (None, first))
    wait_for(lambda: known(folder).process("a").state == "ready")  # type: ignore[union-attr]
    again = known(folder).process("a")
    assert again
    assert (again.restarts, again.exit_code) == (1, -signal.SIGKILL)
    assert pid_of(folder, "b") == other


def test_stop_ends_all_in_reverse_order_even_the_stubborn(folder: Path) -> None:
    """P7: TERM, a grace, then KILL; a grandchild that left the group ends too."""
    order = folder / "order"
    polite = (
        "import signal, sys, time\n"
        f"def bye(*_):\n open({str(order)!r}, 'a').write(NAME); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, bye)\nopen(READY, 'w')\ntime.sleep(600)"
    )
    ready = {name: FileWritten(str(folder / "run" / f"{name}.ready")) for name in "abc"}
    polites = [
        python(name, polite.replace("NAME", repr(name)).replace("READY", repr(ready[name].path)), ready[name])
        for name in "ab"
    ]
    stubborn = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"if os.fork() == 0:\n os.setsid(); open({ready['c'].path!r}, 'w')\ntime.sleep(600)"
    )
    start_detached(plan(folder, *polites, python("c", stubborn, ready["c"]), grace_s=1.0), timeout_s=20)
    assert len(marked_processes(canonical(folder))) == 4
    assert stop(folder, grace_s=15.0)
    assert order.read_text() == "ba"
    state = known(folder)
    assert (state.alive, state.state, {each.state for each in state.processes}) == (False, "stopped", {"stopped"})
    assert marked_processes(canonical(folder)) == []
    assert not stop(folder)


def test_killing_the_supervisor_ends_its_processes_and_up_works_again(folder: Path) -> None:
    """P7: nothing lingers when the supervisor is killed, and its state file deceives nobody."""
    leaver = f"import os\nif os.fork() == 0: os.setsid()\n{SLEEP}"
    start_detached(plan(folder, python("a", SLEEP), python("b", leaver)), timeout_s=20)
    os.kill(known(folder).pid, signal.SIGKILL)
    wait_for(lambda: marked_processes(canonical(folder)) == [])
    left = known(folder)
    assert (left.alive, left.state) == (False, "running")
    again = start_detached(plan(folder, python("a", SLEEP), run="run2"), timeout_s=20)
    assert (again.alive, again.run) == (True, "run2")


def test_a_second_platform_in_the_same_folder_is_refused(folder: Path) -> None:
    """P7: one clear line, and the first one is left in peace."""
    start_detached(plan(folder, python("a", SLEEP)), timeout_s=20)
    before = pid_of(folder, "a")
    link = folder.parent / "same"
    link.symlink_to(folder)
    for name in (folder, link):
        with pytest.raises(PlatformError, match="expected no platform here, but found one running") as refused:
            start_detached(plan(name, python("a", SLEEP), run="run2"))
        assert "\n" not in str(refused.value)
    assert pid_of(folder, "a") == before


@pytest.mark.parametrize(
    ("process", "message"),
    [
        (python("a", "print('no disk'); raise SystemExit(3)"), r"process a: .* code 3: no disk; see .*a\.log"),
        (python("a", "raise SystemExit('no Java')", restart=False), r"process a: .* code 1: no Java; see"),
        (Process("a", ("/nowhere/java",)), r"code 127: /nowhere/java: cannot be run: No such file"),
    ],
)
def test_a_platform_that_cannot_start_says_why_and_is_taken_down(folder: Path, process: Process, message: str) -> None:
    """P7: the last words of the process that failed are in the message."""
    with pytest.raises(PlatformError, match=message):
        start_detached(plan(folder, python("fine", SLEEP), process), timeout_s=20)
    assert not known(folder).alive
    assert marked_processes(canonical(folder)) == []


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """P7: the folder and the remedy are named."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PlatformError, match=r"file/data: expected a folder .* found: Not a directory; name another"):
        start_detached(plan(tmp_path / "file" / "data", python("a", SLEEP)))


def test_a_broken_state_file_is_named(tmp_path: Path) -> None:
    """P7: no traceback for a file that is not ours."""
    assert read_state(tmp_path) is None
    (tmp_path / "run").mkdir()
    state_file(tmp_path).write_text(json.dumps({"folder": "x"}))
    with pytest.raises(PlatformError, match=r"platform\.json: expected the platform's state"):
        read_state(tmp_path)


def test_ports_are_as_configured_or_as_last_time_or_free() -> None:
    """P7: a taken port is refused when it was asked for, avoided when it was not."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(PlatformError, match=rf"airflow\.port: expected a free port, but {port}"):
            choose_port("airflow.port", port)
        assert choose_port("airflow.port", None, last=port) != port
    free = free_port()
    assert choose_port("airflow.port", None, last=free) == free
    assert choose_port("airflow.port", free) == free
