"""Set-up, run as `make setup` runs it, in a small working copy of its own; a server here stands for the world."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from infra import setup

SCRIPT = Path(setup.__file__)
REAL_UV = Path(sys.prefix) / "bin" / "uv"
LOOM, SHEARS = "org.moirae:loom:1.0", "org.moirae:shears:2.1"
JARS = {LOOM: b"the loom", SHEARS: b"the shears"}
JAR_FILES = {"loom-1.0.jar": b"the loom", "shears-2.1.jar": b"the shears"}
DEAD_PROXY = "http://127.0.0.1:9"
NO_NETWORK = "no network; connect once (or set HTTPS_PROXY), afterwards none is needed"
FULL = "the disk is full; make room and run make setup again"
needs_dev_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full is Linux's")


@dataclass
class World:
    """Files by path. Half of a file in `stalls` is sent at once, the rest when `go_on` is set."""

    files: dict[str, bytes] = field(default_factory=dict)
    stalls: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def send(self, path: str, out: io.BufferedIOBase) -> None:
        body = self.files[path]
        out.write(body[:4])
        if path in self.stalls:
            out.flush()
            self.stalled.set()
            self.go_on.wait()
        out.write(body[4:])


@pytest.fixture
def world() -> Iterator[World]:
    world = World({jar_url(name): jar for name, jar in JARS.items()})

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            world.asked.append(self.path)
            if self.path not in world.files:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(world.files[self.path])))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                world.send(self.path, self.wfile)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        world.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield world
        world.go_on.set()
        server.shutdown()
        thread.join()


@dataclass(frozen=True)
class Copy:
    """A working copy that locks one package and two jars, and the environment variables it is set up with."""

    root: Path
    settings: dict[str, str]

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def jars(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.venv / "jars").glob("*")}

    @property
    def syncs(self) -> int:
        """How often uv was asked for the packages."""
        log = self.root / "uv.log"
        return log.read_text().count("sync --frozen") if log.exists() else 0

    def package(self) -> str:
        found = list((self.venv / "lib").glob("python*/site-packages/thread.py"))
        return found[0].read_text() if found else ""

    def start(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.root / "infra" / "setup.py"), *arguments]
        environment = {**self.settings, **settings}
        return subprocess.Popen(
            command, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def succeeds(self, *arguments: str, **settings: str) -> str:
        return finish(self.start(*arguments, **settings))

    def complaint(self, *arguments: str, **settings: str) -> str:
        return one_line(self.start(*arguments, **settings))


def finish(process: subprocess.Popen[str]) -> str:
    """What a run that must succeed said."""
    with process:
        said, complained = process.communicate(timeout=60)
    assert complained == ""
    assert process.returncode == 0
    return said


def one_line(process: subprocess.Popen[str]) -> str:
    """The single line of a run that must fail."""
    with process:
        _, complained = process.communicate(timeout=60)
    assert process.returncode == 1
    assert complained.count("\n") == 1, complained
    assert complained.startswith("setup: ")
    return complained.removeprefix("setup: ").rstrip("\n")


@pytest.fixture
def bare(tmp_path: Path, world: World) -> Copy:
    """As after a clone: no environment at all."""
    root = tmp_path / "copy"
    (root / "infra").mkdir(parents=True)
    (root / "bin").mkdir()
    shutil.copy(SCRIPT, root / "infra" / "setup.py")
    (root / "pyproject.toml").write_text('[project]\nname = "copy"\nversion = "0"\nrequires-python = ">=3.11"\n')
    lock_packages(root, world, wheel("thread", "1", {"thread.py": "spun = 1"}))
    lock_jars(root, JARS)
    write_java(root / "bin", 'openjdk version "17.0.15" 2025-04-15')
    settings = {"PATH": str(root / "bin"), "HOME": str(root), "MOIRAE_MAVEN": world.url}
    return Copy(root, {**settings, "UV_HTTP_RETRIES": "0", "PIP_RETRIES": "1"})


@pytest.fixture
def copy(bare: Copy) -> Copy:
    """With an empty environment that has uv: it saves each test the seconds of pip."""
    venv.create(bare.venv, symlinks=True)
    write_program(bare.venv / "bin" / "uv", f'echo "$@" >> "{bare.root}/uv.log"\nexec "{REAL_UV}" "$@"')
    return bare


@dataclass(frozen=True)
class Wheel:
    name: str
    version: str
    body: bytes

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}-py3-none-any.whl"

    def entry(self, repository: str) -> str:
        """Its part of uv.lock."""
        sha = hashlib.sha256(self.body).hexdigest()
        return (
            f'[[package]]\nname = "{self.name}"\nversion = "{self.version}"\n'
            f'source = {{ registry = "{repository}/simple" }}\n'
            f'wheels = [{{ url = "{repository}/{self.file}", hash = "sha256:{sha}" }}]\n'
        )


def wheel(name: str, version: str, files: dict[str, str]) -> Wheel:
    about = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{about}/RECORD"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in {**files, f"{about}/RECORD": record}.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16  # pip runs nothing that the archive does not mark as a program
            archive.writestr(entry, text)
    return Wheel(name, version, packed.getvalue())


def lock_packages(root: Path, world: World, *wheels: Wheel, repository: str = "") -> None:
    world.files.update({f"/{each.file}": each.body for each in wheels})
    needed = ", ".join(f'{{ name = "{each.name}" }}' for each in wheels)
    head = 'version = 1\nrequires-python = ">=3.11"\n'
    project = f'[[package]]\nname = "copy"\nversion = "0"\nsource = {{ virtual = "." }}\ndependencies = [{needed}]\n'
    entries = [each.entry(repository or world.url) for each in wheels]
    (root / "uv.lock").write_text("\n".join([head, project, *entries]))


def lock_jars(root: Path, jars: dict[str, bytes]) -> None:
    lines = [f"{hashlib.sha256(jar).hexdigest()}  {name}\n" for name, jar in jars.items()]
    (root / "infra" / "jars.lock").write_text("# sha256  coordinates\n" + "".join(lines))


def jar_url(name: str) -> str:
    group, artifact, version = name.split(":")
    return f"/{group.replace('.', '/')}/{artifact}/{version}/{artifact}-{version}.jar"


def write_program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def write_java(folder: Path, answer: str) -> None:
    """As the real one does, it answers on the error stream."""
    folder.mkdir(parents=True, exist_ok=True)
    write_program(folder / "java", f"printf '%s\\n' '{answer}' >&2")


# From nothing, again, and after a change


def test_a_fresh_clone_is_set_up(bare: Copy, world: World, tmp_path: Path) -> None:
    """P7: Python and Java are enough: the environment is made, uv comes into it, then packages, then jars."""
    version = setup.UV_WANTED.removeprefix("uv==")
    uv = wheel("uv", version, {f"uv-{version}.data/scripts/uv": f'#!/bin/sh\nexec "{REAL_UV}" "$@"\n'})
    lock_packages(bare.root, world, uv, wheel("thread", "1", {"thread.py": "spun = 1"}))
    (tmp_path / uv.file).write_bytes(uv.body)
    said = bare.succeeds(PIP_FIND_LINKS=str(tmp_path), PIP_NO_INDEX="1")
    assert said == "setup: Python packages from uv.lock ...\nsetup: jars from infra/jars.lock ...\n"
    assert (bare.package(), bare.jars) == ("spun = 1", JAR_FILES)
    assert bare.succeeds() == ""


def test_nothing_is_done_when_nothing_changed(copy: Copy, world: World) -> None:
    """P7: the second run neither says nor asks anything, and writes nothing."""
    copy.succeeds()
    before = {path: path.lstat().st_mtime_ns for path in copy.venv.rglob("*")}
    world.files.clear()
    world.asked.clear()
    assert copy.succeeds() == ""
    assert (world.asked, copy.syncs) == ([], 1)
    assert {path: path.lstat().st_mtime_ns for path in copy.venv.rglob("*")} == before


def test_a_changed_lock_changes_the_packages(copy: Copy, world: World) -> None:
    """P7: packages are those of uv.lock, and the environment stays otherwise."""
    copy.succeeds()
    assert copy.package() == "spun = 1"
    lock_packages(copy.root, world, wheel("thread", "2", {"thread.py": "spun = 2"}))
    assert copy.succeeds() == "setup: Python packages from uv.lock ...\n"
    assert copy.package() == "spun = 2"


def test_jars_are_those_of_the_lock_and_no_others(copy: Copy, world: World) -> None:
    """P7: Spark takes every jar of the folder, so one that left the lock leaves the folder; one gone is fetched."""
    copy.succeeds()
    (copy.venv / "jars" / "shears-2.1.jar").unlink()
    world.asked.clear()
    copy.succeeds()
    assert (copy.jars, world.asked) == (JAR_FILES, [jar_url(SHEARS)])
    lock_jars(copy.root, {LOOM: JARS[LOOM]})
    copy.succeeds()
    assert copy.jars == {"loom-1.0.jar": b"the loom"}


def test_the_lock_of_jars_is_rewritten_on_request_only(copy: Copy) -> None:
    """P7: --lock fills in what the repository holds, for a new jar too; the comment stays."""
    lock = copy.root / "infra" / "jars.lock"
    right = lock.read_text()
    lock.write_text(f"# sha256  coordinates\n-  {SHEARS}\n-  {LOOM}\n")
    assert f"{SHEARS} is not the file" in copy.complaint()
    copy.succeeds("--lock")
    assert (lock.read_text(), copy.jars) == (right, JAR_FILES)


def test_settings_of_uv_in_the_environment_do_not_lead_elsewhere(copy: Copy, tmp_path: Path) -> None:
    """P7: another project's variables make no other environment and fetch no other Python."""
    copy.succeeds(UV_PYTHON="3.99", UV_PROJECT_ENVIRONMENT=str(tmp_path / "elsewhere"), VIRTUAL_ENV=str(tmp_path))
    assert copy.package() == "spun = 1"
    assert not (tmp_path / "elsewhere").exists()


# Python and Java


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_a_supported_python_is_taken(version: tuple[int, int]) -> None:
    """P7: Python 3.11 and newer."""
    setup.check_python(version)


@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 14)])
def test_another_python_is_refused_with_its_version(version: tuple[int, int]) -> None:
    """P7: the versions are those of pyproject.toml."""
    with pytest.raises(setup.SetupError, match=rf"3\.11 to 3\.13 is needed, but python3 is 3\.{version[1]}; install"):
        setup.check_python(version)


def test_an_old_python_can_read_the_script_up_to_its_refusal() -> None:
    """P7: no syntax newer than Python 3.8, or the line would be a SyntaxError."""
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_java_17_and_newer_is_taken_whoever_made_it(copy: Copy) -> None:
    """P7: Java 17 or newer; it is judged on every run, also when everything else is done."""
    for answer in (
        'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)',
        'java version "21" 2023-09-19 LTS\nJava(TM) SE Runtime Environment (build 21+35-LTS-2513)',
        'openjdk version "22-ea" 2024-03-19\nIBM Semeru Runtime Open Edition 22-ea\nEclipse OpenJ9 VM',
        'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25.0.1" 2025-10-21\nZulu25.30+17-CA',
        "grund version 17.0.2-vendor+8 of another house",
    ):
        write_java(copy.root / "bin", answer)
        copy.succeeds()
    write_java(copy.root / "bin", 'openjdk version "11.0.22" 2024-01-16')
    assert "but java is 11.0.22;" in copy.complaint()


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('openjdk version "11.0.22" 2024-01-16', "is 11.0.22"),
        ('java version "1.8.0_391"', "is 1.8.0_391"),
        ("The Java of a house that counts otherwise", "does not tell its version"),
    ],
)
def test_an_old_or_unknown_java_is_refused(copy: Copy, answer: str, found: str) -> None:
    """P7: one line with what was found and what to install; nothing is begun."""
    write_java(copy.root / "bin", answer)
    line = copy.complaint()
    assert line.startswith(f"Java 17 or newer is needed, but java {found}; install a JRE (Debian: apt-get install")
    assert copy.syncs == 0


def test_a_missing_java_is_refused(copy: Copy, tmp_path: Path) -> None:
    """P7: none on the PATH, or one that cannot start, as the placeholder of macOS."""
    assert "but java does not run; install a JRE" in copy.complaint(PATH=str(tmp_path))
    write_program(copy.root / "bin" / "java", "echo Unable to locate a Java Runtime. >&2; exit 1")
    assert "but java does not run; install a JRE" in copy.complaint()


def test_java_home_goes_before_the_path(copy: Copy, tmp_path: Path) -> None:
    """P7: Spark takes JAVA_HOME, so that is the java that is judged, and the line names it."""
    home = tmp_path / "jdk"
    assert f"but {home}/bin/java does not run;" in copy.complaint(JAVA_HOME=str(home))
    write_java(home / "bin", 'openjdk version "11.0.22" 2024-01-16')
    assert f"but {home}/bin/java is 11.0.22;" in copy.complaint(JAVA_HOME=str(home))
    write_java(home / "bin", 'openjdk version "21.0.2" 2024-01-16')
    write_java(copy.root / "bin", 'openjdk version "11.0.22" 2024-01-16')
    copy.succeeds(JAVA_HOME=str(home))


# Network, disk, files that are not what they should be


def test_a_moved_copy_is_set_up_anew_but_not_without_network(copy: Copy, tmp_path: Path) -> None:
    """P7: the scripts of an environment name the place it was made in; a new one begins with uv, which must come."""
    copy.succeeds()
    moved = Copy(copy.root.rename(tmp_path / "moved"), {**copy.settings, "PATH": str(tmp_path / "moved" / "bin")})
    assert moved.complaint(HTTPS_PROXY=DEAD_PROXY) == f"could not install uv: {NO_NETWORK}"
    assert (moved.package(), moved.jars) == ("", {})


def test_without_network_packages_cannot_come_but_later_do(copy: Copy, world: World) -> None:
    """P7: no network while uv works; the next run goes on."""
    thread = wheel("thread", "1", {"thread.py": "spun = 1"})
    lock_packages(copy.root, world, thread, repository="https://packages.invalid")
    assert copy.complaint(HTTPS_PROXY=DEAD_PROXY) == f"could not install the packages of uv.lock: {NO_NETWORK}"
    lock_packages(copy.root, world, thread)
    copy.succeeds()
    assert copy.package() == "spun = 1"


def test_without_network_jars_cannot_come_but_later_do(copy: Copy) -> None:
    """P7: Maven Central is asked, where no mirror is named, through the proxy of the environment."""
    without_mirror = Copy(copy.root, {name: copy.settings[name] for name in ("PATH", "HOME")})
    line = without_mirror.complaint(HTTPS_PROXY=DEAD_PROXY)
    assert line == f"could not fetch https://repo1.maven.org/maven2{jar_url(LOOM)}: {NO_NETWORK}"
    assert copy.succeeds() == "setup: jars from infra/jars.lock ...\n"
    assert copy.jars == JAR_FILES


def test_a_jar_with_another_sha256_is_refused_and_not_kept(copy: Copy, world: World) -> None:
    """P7: jars come with sha256; the one fetched before the wrong one stays."""
    world.files[jar_url(SHEARS)] = b"not the shears"
    line = copy.complaint()
    assert line == f"{SHEARS} is not the file infra/jars.lock describes (sha256 differs); do not use it"
    assert copy.jars == {"loom-1.0.jar": b"the loom"}


def test_a_package_with_another_sha256_is_refused(copy: Copy, world: World) -> None:
    """P7: a wheel that is whole, but not the locked one."""
    world.files["/thread-1-py3-none-any.whl"] = wheel("thread", "1", {"thread.py": "spun = 3"}).body
    line = copy.complaint()
    assert line.endswith("a file is not the one uv.lock describes (sha256 differs); do not use it")
    assert copy.package() == ""


def test_a_jar_the_repository_does_not_have_is_named(copy: Copy, world: World) -> None:
    """P7: a slip in the lock file."""
    del world.files[jar_url(LOOM)]
    line = copy.complaint()
    assert line.endswith("loom-1.0.jar: the repository has no such file; correct infra/jars.lock")


def test_a_line_that_is_no_lock_is_named(copy: Copy) -> None:
    """P7: a conflict left in the lock file."""
    (copy.root / "infra" / "jars.lock").write_text("# sha256  coordinates\n<<<<<<< HEAD\n")
    assert copy.complaint().startswith("infra/jars.lock, line 2: expected 'sha256 group:artifact:version';")


def test_a_missing_lock_file_is_named(copy: Copy) -> None:
    """P7: no traceback for what the operating system refuses."""
    (copy.root / "uv.lock").unlink()
    assert copy.complaint().startswith(f"could not use {copy.root}/uv.lock: No such file or directory; mend that")


@needs_dev_full
def test_a_disk_full_of_jars_is_told_and_leaves_no_jar(copy: Copy) -> None:
    """P7: the first write fails as on a full disk; with room, the next run succeeds."""
    part = copy.venv / "jars" / "loom-1.0.part"
    part.parent.mkdir()
    part.symlink_to("/dev/full")
    assert copy.complaint().endswith(FULL)
    assert not list(part.parent.glob("*.jar"))
    part.unlink()
    copy.succeeds()
    assert copy.jars == JAR_FILES


@needs_dev_full
def test_a_disk_full_of_packages_is_told(copy: Copy) -> None:
    """P7: uv says in many lines what the person needs in one."""
    write_program(copy.venv / "bin" / "uv", '[ "$1" = --version ] || exec /bin/cp /bin/sh /dev/full')
    assert copy.complaint() == f"could not install the packages of uv.lock: {FULL}"


def test_too_little_room_is_told_before_anything_is_begun() -> None:
    """P7: a full disk is seen coming."""
    setup.check_disk(4 << 30)
    with pytest.raises(setup.SetupError, match="set-up needs 4 GiB of disk, but 3072 MiB are free; make room"):
        setup.check_disk(3 << 30)


def test_an_unknown_failure_gives_its_cause(copy: Copy) -> None:
    """P7: the last line is the cause, hints aside; a program that dies silently is reported too."""
    uv = copy.venv / "bin" / "uv"
    told = r"printf 'error: no\n  cause: knot\n\nhint: sleep\n' >&2"
    write_program(uv, f'[ "$1" = --version ] || {{ {told}; exit 2; }}')
    line = "could not install the packages of uv.lock: {}; mend that and run make setup again"
    assert copy.complaint() == line.format("cause: knot")
    write_program(uv, '[ "$1" = --version ]')
    assert copy.complaint() == line.format("it gave no reason")


# Stopped in the middle, and two at once


def test_a_kill_while_a_jar_comes_leaves_no_half_jar(copy: Copy, world: World) -> None:
    """P7: what is there is whole; the next run brings the rest."""
    world.stalls = {jar_url(SHEARS)}
    with copy.start() as process:
        assert world.stalled.wait(30)
        process.kill()
        process.communicate()
    assert copy.jars == {"loom-1.0.jar": b"the loom"}
    world.stalls.clear()
    copy.succeeds()
    assert copy.jars == JAR_FILES


def test_half_a_jar_is_never_taken_for_a_whole_one(copy: Copy) -> None:
    """P7: a jar cut by a crash of the machine is fetched again, and the leavings of a kill go."""
    copy.succeeds()
    (copy.venv / "jars" / "loom-1.0.jar").write_bytes(b"the l")
    (copy.venv / "jars" / "shears-2.1.part").write_bytes(b"the s")
    copy.succeeds()
    assert copy.jars == JAR_FILES


def test_a_kill_while_packages_come_is_not_forgotten(copy: Copy, world: World) -> None:
    """P7: the environment is mixed then; putting the old lock file back does not make it the old one."""
    copy.succeeds()
    old, uv = (copy.root / "uv.lock").read_text(), copy.venv / "bin" / "uv"
    working = uv.read_text()
    lock_packages(copy.root, world, wheel("thread", "2", {"thread.py": "spun = 2"}))
    write_program(uv, '[ "$1" = --version ] || kill -9 $PPID')
    with copy.start() as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    (copy.root / "uv.lock").write_text(old)
    uv.write_text(working)
    assert "Python packages" in copy.succeeds()


@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="interrupts are ignored here")
def test_an_interrupt_is_one_line(copy: Copy, world: World) -> None:
    """P7: Ctrl-C is no traceback."""
    world.stalls = {jar_url(LOOM)}
    process = copy.start()
    assert world.stalled.wait(30)
    process.send_signal(signal.SIGINT)
    assert one_line(process) == "interrupted; run make setup again, it goes on from here"


def test_two_at_once_do_the_work_once(copy: Copy, world: World) -> None:
    """P7: the second waits, finds everything done, and does nothing."""
    world.stalls = {jar_url(LOOM)}
    first = copy.start()
    assert world.stalled.wait(30)
    second = copy.start()
    assert second.stdout is not None
    assert second.stdout.readline() == "setup: another set-up is at work; waiting for it ...\n"
    world.go_on.set()
    finish(first)
    assert finish(second) == ""
    assert sorted(world.asked) == sorted([*map(jar_url, JARS), "/thread-1-py3-none-any.whl"])
    assert (copy.jars, copy.syncs) == (JAR_FILES, 1)
