"""The lifecycle under a real Airflow and a real supervisor, with small jobs in place of Spark's."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moirae.adapters.platform import Plan, choose_port, read_state, start_detached, stop
from moirae.adapters.platform.airflow import airflow_login, airflow_processes, airflow_url
from moirae.adapters.platform.airflow_api import AirflowClient
from moirae.adapters.platform.processes import marked_processes, wait_until
from moirae.adapters.platform.state import canonical

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
DAG = "history_lifecycle"
JOB = """
import os, sys, time
open(os.environ["JOURNAL"], "a").write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[3:]]) + "\\n")
if "--stream" in sys.argv:
    time.sleep(600)
sys.exit(int(os.environ["MOIRAE_NOTHING_DUE"]) if "compact" in sys.argv[0] else 0)
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for name in ("seal_chunks", "check_chunks", "compact_chunks", "retier_chunks", "report_lifecycle"):
        (jobs / f"{name}.py").write_text(JOB)
    monkeypatch.setenv("MOIRAE_JOBS", str(jobs))
    monkeypatch.setenv("JOURNAL", str(tmp_path / "journal"))
    yield tmp_path / "data"
    stop(tmp_path / "data")


def test_the_lifecycle_runs_under_airflow_and_nothing_survives_its_supervisor(data: Path) -> None:
    """P1: triggered by hand, each job once and in order; killed in the middle of a task, no process is left."""
    port = choose_port("airflow.port", None)
    processes = airflow_processes(data / "airflow", port, ROOT / "dags", ROOT / "config" / "embedded.yaml", None)
    start_detached(Plan(data, "e2e", processes, {"airflow": airflow_url(port)}), timeout_s=120)
    client = AirflowClient(airflow_url(port), *airflow_login(data / "airflow"))
    assert wait_until(lambda: client.knows(DAG), 30)
    assert client.import_errors() == {}

    run = client.trigger(DAG, {"until": "2026-01-02T03:04:05+00:00"})
    assert client.wait(DAG, run, 120) == "success"
    assert client.task_states(DAG, run)["compact_chunks"] == "skipped"
    names = [line.split() for line in (data.parent / "journal").read_text().splitlines()]
    order = ["seal_chunks", "check_chunks", "compact_chunks", "retier_chunks", "report_lifecycle"]
    assert names == [[f"{name}.py", "--until", "2026-01-02T03:04:05+00:00"] for name in order]

    client.trigger(DAG, {"stream": "traffic"})
    assert wait_until(lambda: "--stream traffic" in (data.parent / "journal").read_text(), 60)
    state = read_state(data)
    assert state
    os.kill(state.pid, signal.SIGKILL)
    began = time.monotonic()
    assert wait_until(lambda: not marked_processes(canonical(data)), 40), time.monotonic() - began
