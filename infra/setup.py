"""Bring the working copy to the state its lock files describe: Python packages, then Spark's extra jars.

    python3 infra/setup.py            # a fraction of a second when nothing changed
    python3 infra/setup.py --lock     # fetch the jars again and rewrite infra/jars.lock

Only the standard library is used, because this runs before anything is installed, and only syntax that Python 3.8
reads, so that an old Python is refused in words. Every failure is one line that says what to do. Jars come from Maven
Central, or from the mirror that the environment variable MOIRAE_MAVEN names; their sha256 is checked either way.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Iterator  # noqa: UP035, Python 3.8 has no other

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
UV_WANTED = "uv==0.13.8"
STAMP = VENV / ".moirae-setup"
JARS = VENV / "jars"
JARS_LOCK = ROOT / "infra" / "jars.lock"
MAVEN = os.environ.get("MOIRAE_MAVEN", "https://repo1.maven.org/maven2").rstrip("/")
NEEDED_BYTES = 4 << 30

# What others say when they fail, and what it means to the person at the terminal; the first that fits.
TROUBLES = (
    (r"No space left|quota exceeded", "the disk is full; make room and run make setup again"),
    (r"hash mismatch", "a file is not the one uv.lock describes (sha256 differs); do not use it"),
    (r"ensurepip", "this Python came without venv; install it (Debian: apt-get install python3-venv)"),
    (r"HTTP Error 404", "the repository has no such file; correct infra/jars.lock"),
    (
        r"resolve host|name resolution|name or service|nodename nor servname|dns error|lookup address"
        r"|connection (refused|reset)|(network|host) is (unreachable|down)|no route to host|timed out",
        "no network; connect once (or set HTTPS_PROXY), afterwards none is needed",
    ),
)


class SetupError(Exception):
    """One line for the person at the terminal."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lock", action="store_true", help="rewrite infra/jars.lock from what is fetched")
    args = parser.parse_args(argv)
    try:
        check_python(sys.version_info[:2])
        check_java(*ask_java())
        with one_at_a_time():
            install_packages()
            if args.lock:
                rewrite_lock()
            install_jars()
    except SetupError as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"could not use {error.filename or ROOT}: {meaning(error.strerror or str(error))}")
    except KeyboardInterrupt:
        return fail("interrupted; run make setup again, it goes on from here")
    return 0


def fail(reason: str) -> int:
    sys.stderr.write(f"setup: {' '.join(reason.split())}\n")
    return 1


def say(what: str) -> None:
    sys.stdout.write(f"setup: {what} ...\n")
    sys.stdout.flush()


def check_python(version: tuple[int, ...]) -> None:
    if not (3, 11) <= version < (3, 14):
        found = ".".join(map(str, version))
        raise SetupError(f"Python 3.11 to 3.13 is needed, but python3 is {found}; install one and put it on the PATH")


def ask_java() -> tuple[str, str | None]:
    """The java that Spark will take, and what it says of its version; None if it does not run."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return java, None
    return java, answer.stderr + answer.stdout


def check_java(java: str, answer: str | None) -> None:
    """Versions before 9 call themselves 1.8, so their major is 1: too old either way."""
    found = re.search(r'version "?(\d[\w.+-]*)', answer or "")
    if found and int(re.split(r"\D", found[1])[0]) >= 17:
        return
    state = "does not run" if answer is None else f"is {found[1]}" if found else "does not tell its version"
    remedy = "install a JRE (Debian: apt-get install openjdk-17-jre-headless) or point JAVA_HOME at one"
    raise SetupError(f"Java 17 or newer is needed, but {java} {state}; {remedy}")


def check_disk(free: int) -> None:
    if free < NEEDED_BYTES:
        raise SetupError(f"set-up needs {NEEDED_BYTES >> 30} GiB of disk, but {free >> 20} MiB are free; make room")


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two terminals may say make at once; the second waits. The lock is this file, and ends with the process."""
    with open(__file__, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is at work; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_packages() -> None:
    """The stamp goes first and comes back last: what is stopped half-way does not count as done."""
    wanted = fingerprint()
    if STAMP.is_file() and STAMP.read_text() == wanted and PYTHON.exists():
        return
    say("Python packages from uv.lock")
    if STAMP.exists():
        STAMP.unlink()
    if not environment_is_sound():
        make_environment()
    environment = {"UV_PROJECT_ENVIRONMENT": str(VENV), "UV_PYTHON": str(PYTHON), "UV_PYTHON_DOWNLOADS": "never"}
    run([str(UV), "sync", "--frozen", "--quiet"], "install the packages of uv.lock", environment)
    STAMP.write_text(wanted)


def fingerprint() -> str:
    """A digest of everything the packages depend on. The path counts: an environment does not survive a move."""
    parts = [path.read_bytes() for path in (ROOT / "pyproject.toml", ROOT / "uv.lock", Path(__file__))]
    return hashlib.sha256(b"".join([str(ROOT).encode(), *parts])).hexdigest()


def environment_is_sound() -> bool:
    """Made in this very place, with a Python that is still there and a uv that was not cut short."""
    notes = VENV / "pyvenv.cfg"
    here = notes.is_file() and any(line.endswith(f" {VENV}") for line in notes.read_text().splitlines())
    return here and PYTHON.exists() and uv_runs()


def uv_runs() -> bool:
    try:
        return subprocess.run([str(UV), "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make_environment() -> None:
    check_disk(shutil.disk_usage(ROOT).free)
    run([sys.executable, "-m", "venv", "--clear", str(VENV)], "make a virtual environment in .venv")
    run([str(PYTHON), "-m", "pip", "install", "--quiet", UV_WANTED], "install uv")


def run(command: list[str], purpose: str, environment: dict[str, str] | None = None) -> None:
    answer = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
        cwd=ROOT,
        check=False,
    )
    if answer.returncode != 0:
        raise SetupError(f"could not {purpose}: {meaning(answer.stdout + answer.stderr)}")


def meaning(said: str) -> str:
    """The remedy for a known trouble, or the last line, which is where programs name the cause."""
    for pattern, remedy in TROUBLES:
        if re.search(pattern, said, re.I):
            return remedy
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("hint:")]
    return f"{lines[-1] if lines else 'it gave no reason'}; mend that and run make setup again"


def install_jars() -> None:
    """Their own sha256 says whether they are there, so they need no stamp. Spark takes every jar of the folder."""
    lock = read_lock(JARS_LOCK.read_text())
    missing = [name for name, sha in lock.items() if digest(jar_path(name)) != sha]
    if missing:
        say("jars from infra/jars.lock")
    JARS.mkdir(parents=True, exist_ok=True)
    for name in missing:
        install_jar(name, lock[name])
    for stray in set(JARS.iterdir()) - set(map(jar_path, lock)):
        stray.unlink()


def install_jar(name: str, sha: str) -> None:
    """A jar appears whole and checked, or not at all."""
    jar = fetch(name)
    if hashlib.sha256(jar).hexdigest() != sha:
        raise SetupError(f"{name} is not the file infra/jars.lock describes (sha256 differs); do not use it")
    part = jar_path(name).with_suffix(".part")
    part.write_bytes(jar)
    os.replace(part, jar_path(name))


def fetch(name: str) -> bytes:
    group, artifact, version = name.split(":")
    url = f"{MAVEN}/{group.replace('.', '/')}/{artifact}/{version}/{jar_path(name).name}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            jar: bytes = answer.read()
    except (OSError, HTTPException) as error:
        raise SetupError(f"could not fetch {url}: {meaning(str(error))}") from None
    return jar


def rewrite_lock() -> None:
    text = JARS_LOCK.read_text()
    head = [line for line in text.splitlines() if line.startswith("#")]
    pairs = [f"{hashlib.sha256(fetch(name)).hexdigest()}  {name}" for name in sorted(read_lock(text))]
    JARS_LOCK.write_text("".join(f"{line}\n" for line in head + pairs))


def read_lock(text: str) -> dict[str, str]:
    """sha256 by coordinates."""
    lock = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        found = re.fullmatch(r"(\S+)\s+([\w.-]+:[\w.-]+:[\w.-]+)\s*", line)
        if not found:
            raise SetupError(f"infra/jars.lock, line {number}: expected 'sha256 group:artifact:version'; correct it")
        lock[found[2]] = found[1]
    return lock


def jar_path(coordinates: str) -> Path:
    _, artifact, version = coordinates.split(":")
    return JARS / f"{artifact}-{version}.jar"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
