"""A real Airflow for one machine: three processes, one folder, the loopback address.

SQLite in WAL mode holds its metadata, tasks run under LocalExecutor in the scheduler's group, and one user with a
random password may log in: whoever can reach the pages can run code, so even on the loopback address other users of the
machine are kept out. No triggerer runs, as no task of the platform defers.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import secrets
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from moirae.adapters.platform.ports import LOOPBACK
from moirae.adapters.platform.probes import Healthy
from moirae.adapters.platform.processes import Process
from moirae.adapters.platform.state import write_file
from moirae.errors import PlatformError

USER = "moirae"
_CORE = "apache-airflow-core"


def airflow_url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def airflow_environment(
    home: Path, port: int, dags: Path, config_path: Path, schedule: str | None = "@hourly"
) -> dict[str, str]:
    """All that Airflow and the platform's DAGs are told; nothing is left to an `airflow.cfg` of the user's."""
    url = airflow_url(port)
    settings = {
        "CORE__DAGS_FOLDER": str(dags),
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "CORE__EXECUTOR": "LocalExecutor",
        "CORE__PARALLELISM": "2",  # the lifecycle is one task at a time; the second is for a run by hand
        "CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "CORE__HOSTNAME_CALLABLE": "socket.gethostname",  # the default asks DNS, which may not be there
        "CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_passwords(home)),
        "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{_database(home)}?timeout=60",
        "API__HOST": LOOPBACK,
        "API__PORT": str(port),
        "API__BASE_URL": url,
        "API__WORKERS": "1",
        "WORKERS__MIN_HEARTBEAT_INTERVAL": "1",  # also how late the end of a failed or skipped task may be noticed
        "WORKERS__EXECUTION_API_TIMEOUT": "30",  # Spark may have taken every core
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",  # a task follows the one before it sooner than after a second
        "SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "60",
        "DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "60",
        "LOGGING__COLORED_CONSOLE_LOG": "False",
    }
    return {
        **{f"AIRFLOW__{name}": value for name, value in settings.items()},
        "AIRFLOW_HOME": str(home),
        "MOIRAE_CONFIG": str(config_path),
        "MOIRAE_PROFILE": "embedded",
        "MOIRAE_SCHEDULE": schedule or "",
        "NO_PROXY": f"{LOOPBACK},localhost",
        "SPT_NOENV": "1",  # else renamed workers lose the mark by which the supervisor finds them
    }


def airflow_processes(
    home: Path, port: int, dags: Path, config_path: Path, schedule: str | None = "@hourly"
) -> tuple[Process, ...]:
    """The migration as a step, then the three processes side by side."""
    environment = airflow_environment(home, port, dags, config_path, schedule)
    health = f"{airflow_url(port)}/api/v2/monitor/health"

    def airflow(name: str, part: str, *arguments: str) -> Process:
        argv = (sys.executable, "-m", "airflow", *arguments)
        return Process(name, argv, environment, Healthy(health, part), after=("airflow_migrate",))

    return (
        Process("airflow_migrate", (sys.executable, "-m", __name__), environment, restart=False),
        airflow("airflow_api", "metadatabase", "api-server"),
        airflow("airflow_scheduler", "scheduler", "scheduler", "--skip-serve-logs"),
        airflow("airflow_dags", "dag_processor", "dag-processor"),
    )


def prepare_airflow(home: Path) -> None:
    """The folder, the password and a database in WAL mode, where readers and the writer do not block each other."""
    home.mkdir(parents=True, exist_ok=True)
    if not _passwords(home).exists():
        write_file(_passwords(home), json.dumps({USER: secrets.token_urlsafe(18)}) + "\n", mode=0o600)
    with closing(sqlite3.connect(_database(home))) as database:
        database.execute("PRAGMA journal_mode = WAL")


def airflow_login(home: Path) -> tuple[str, str]:
    """Name and password of the one user."""
    try:
        return USER, json.loads(_passwords(home).read_text())[USER]
    except (OSError, ValueError, LookupError) as error:
        raise PlatformError(
            f"{_passwords(home)}: expected the password of '{USER}', but found: {error}; run `moirae up` once"
        ) from error


def migrate(home: Path, environment: dict[str, str]) -> bool:
    """Bring the database to this Airflow's version; whether anything was to be done, which takes seconds to find out
    from the database itself and no time from the note kept beside it."""
    version = importlib.metadata.version(_CORE)
    note = home / "migrated.txt"
    if note.exists() and note.read_text().strip() == version:
        return False
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    code = subprocess.run(command, env={**os.environ, **environment}, check=False).returncode
    if code:
        raise PlatformError(f"{_database(home)}: expected `airflow db migrate` to succeed, but it ended with {code}")
    write_file(note, f"{version}\n")
    return True


def _passwords(home: Path) -> Path:
    return home / "passwords.json"


def _database(home: Path) -> Path:
    return home / "airflow.db"


def main() -> int:
    """The step `airflow_migrate`: everything is in its environment."""
    home = Path(os.environ["AIRFLOW_HOME"])
    try:
        prepare_airflow(home)
        migrate(home, {})
    except PlatformError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
