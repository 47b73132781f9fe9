"""The embedded platform as a plan: Airflow, detection and recall on this machine, told the same configuration."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from moirae.adapters.platform.airflow import airflow_processes, airflow_url
from moirae.adapters.platform.plan import Plan
from moirae.adapters.platform.ports import choose_port
from moirae.adapters.platform.probes import FileWritten
from moirae.adapters.platform.processes import Process
from moirae.adapters.platform.state import canonical, prepare_folder, read_state, write_file
from moirae.config import Config
from moirae.errors import PlatformError

AIRFLOW = "airflow"


def embedded_plan(config: Config, root: Path) -> Plan:
    """Everything that runs; `root` is where `jobs/` and `dags/` are. The configuration is written beside the state."""
    folder = canonical(config.store.path)
    if not (root / "jobs").is_dir():
        raise PlatformError(f"{root}: expected the platform's jobs/ and dags/, but found none; run from its repository")
    prepare_folder(folder)
    last = read_state(folder)
    port = choose_port("airflow.port", config.airflow.port, _last_port(last.addresses if last else {}))
    written = folder / "run" / "config.yaml"
    write_file(written, config.model_dump_json(indent=1), mode=0o600)
    schedule = config.airflow.schedule
    return Plan(
        folder,
        secrets.token_hex(4),
        (
            _job("detect_events", root, folder, written),
            _job("recall_history", root, folder, written),
            *airflow_processes(folder / "airflow", port, root / "dags", written, schedule),
        ),
        {AIRFLOW: airflow_url(port), "landing": config.ingest.landing},
    )


def _job(name: str, root: Path, folder: Path, config: Path) -> Process:
    ready = folder / "run" / f"{name}.ready"
    argv = (sys.executable, str(root / "jobs" / f"{name}.py"), "--config", str(config), "--ready", str(ready))
    return Process(name, argv, {}, FileWritten(str(ready)))


def _last_port(addresses: object) -> int | None:
    url = addresses.get(AIRFLOW, "") if isinstance(addresses, dict) else ""
    return int(url.rsplit(":", 1)[1]) if url else None
