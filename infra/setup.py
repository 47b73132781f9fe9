"""Bring the working copy to the state its lock files describe: Python packages, then Spark's extra jars.

    python3 infra/setup.py            # seconds when nothing changed
    python3 infra/setup.py --lock     # fetch the jars again and rewrite infra/jars.lock

Only the standard library is used, because this runs before anything is installed. Every failure is one line that
says what to do.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
JARS = VENV / "jars"
JARS_LOCK = ROOT / "infra" / "jars.lock"
STAMP = VENV / ".moirae-setup"
UV = "uv==0.13.8"
NEEDED_BYTES = 4 << 30


class SetupError(Exception):
    """One line for the person at the terminal."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lock", action="store_true", help="rewrite infra/jars.lock from what is fetched")
    args = parser.parse_args(argv)
    try:
        check_python(sys.version_info[:2])
        check_java(java_version())
        wanted = fingerprint()
        if not args.lock and STAMP.is_file() and STAMP.read_text() == wanted:
            return 0
        check_disk(shutil.disk_usage(ROOT).free)
        install_packages()
        install_jars(rewrite_lock=args.lock)
        STAMP.write_text(fingerprint())
    except SetupError as error:
        sys.stderr.write(f"setup: {error}\n")
        return 1
    return 0


def fingerprint() -> str:
    """A digest of everything set-up depends on.

    The path counts: an environment does not survive a move.
    """
    digest = hashlib.sha256(str(ROOT).encode())
    for path in (ROOT / "pyproject.toml", ROOT / "uv.lock", JARS_LOCK, Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check_python(version: tuple[int, ...]) -> None:
    if not (3, 11) <= version < (3, 14):
        found = ".".join(map(str, version))
        raise SetupError(f"Python 3.11 to 3.13 is needed, but python3 is {found}; install one and put it on the PATH")


def java_version() -> str | None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stderr


def check_java(answer: str | None) -> None:
    remedy = "install a JDK or JRE 17 or newer (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if answer is None:
        raise SetupError(f"Java 17 or newer is needed, but no working java was found; {remedy}")
    found = re.search(r'version "(\d+)(?:\.(\d+))?', answer)
    major = 0 if not found else int(found[2] or 0) if found[1] == "1" else int(found[1])
    if major < 17:
        raise SetupError(f"Java 17 or newer is needed, but this is Java {major or 'of an unknown version'}; {remedy}")


def check_disk(free: int) -> None:
    if free < NEEDED_BYTES:
        raise SetupError(f"set-up needs {NEEDED_BYTES >> 30} GiB of disk, but {free >> 20} MiB are free; make room")


def install_packages() -> None:
    say("Python packages from uv.lock")
    python = VENV / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(VENV)], "make a virtual environment in .venv")
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        run([str(python), "-m", "pip", "install", "--quiet", UV], "install uv")
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(VENV)}
    run([str(uv), "sync", "--frozen", "--quiet"], "install the packages of uv.lock", environment)


def install_jars(*, rewrite_lock: bool) -> None:
    lock = read_lock(JARS_LOCK.read_text())
    if not rewrite_lock and all(digest(jar_path(name)) == sha for name, sha in lock.items()):
        return
    say("jars from infra/jars.lock")
    with tempfile.TemporaryDirectory(prefix="moirae-jars-") as scratch:
        fetched = fetch_jars(list(lock), Path(scratch))
        found = {name: digest(path) for name, path in fetched.items()}
        if rewrite_lock:
            head = "".join(line + "\n" for line in JARS_LOCK.read_text().splitlines() if line.startswith("#"))
            JARS_LOCK.write_text(head + "".join(f"{sha}  {name}\n" for name, sha in sorted(found.items())))
        elif wrong := [name for name, sha in lock.items() if found[name] != sha]:
            raise SetupError(f"{wrong[0]} is not the file infra/jars.lock describes (sha256 differs); do not use it")
        shutil.rmtree(JARS, ignore_errors=True)
        JARS.mkdir(parents=True)
        for name, path in fetched.items():
            shutil.copyfile(path, jar_path(name))


def read_lock(text: str) -> dict[str, str]:
    """sha256 by coordinates."""
    pairs = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {name: sha for sha, name in pairs}


def jar_path(coordinates: str) -> Path:
    _, artifact, version = coordinates.split(":")
    return JARS / f"{artifact}-{version}.jar"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def fetch_jars(names: list[str], scratch: Path) -> dict[str, Path]:
    """Have the Ivy inside pyspark fetch exactly these jars, without their dependencies."""
    ivy_jar = next((VENV / "lib").glob("python*/site-packages/pyspark/jars/ivy-*.jar"))
    settings = scratch / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="central"/>'
        '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>'
    )
    wanted = "".join(
        "<dependency org={} name={} rev={} conf='default->master' transitive='false'/>".format(
            *map(quoteattr, name.split(":"))
        )
        for name in names
    )
    module = scratch / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0"><info organisation="moirae" module="jars"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{wanted}</dependencies></ivy-module>'
    )
    command = ["java", "-cp", str(ivy_jar), "org.apache.ivy.Main", "-settings", str(settings), "-ivy", str(module)]
    command += ["-cache", str(scratch / "cache"), "-retrieve", str(scratch / "[artifact]-[revision].[ext]")]
    run(command, "fetch the jars of infra/jars.lock")
    paths = {name: scratch / jar_path(name).name for name in names}
    if missing := [name for name, path in paths.items() if not path.is_file()]:
        raise SetupError(f"the repository has no jar {missing[0]}; correct infra/jars.lock")
    return paths


def run(command: list[str], purpose: str, environment: dict[str, str] | None = None) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    if answer.returncode == 0:
        return
    said = (answer.stderr + answer.stdout).strip()
    if re.search(r"No space left|ENOSPC|os error 28", said):
        raise SetupError(f"could not {purpose}: the disk is full; make room and run make setup again")
    if re.search(r"resolve host|dns error|Connection refused|UnknownHost|Network is unreachable|timed out", said, re.I):
        raise SetupError(f"could not {purpose}: no network; connect once, afterwards none is needed")
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "no message")
    raise SetupError(f"could not {purpose}: {last.strip()}")


def say(what: str) -> None:
    sys.stderr.write(f"setup: {what} ...\n")


if __name__ == "__main__":
    sys.exit(main())
