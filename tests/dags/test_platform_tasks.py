"""A job as a task: run for real, in a process that has Airflow, so that this one stays without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

JOB = """
import os, subprocess, sys, time
print("arguments", sys.argv[1:], flush=True)
kind = sys.argv[sys.argv.index("--stream") + 1] if "--stream" in sys.argv else ""
if kind == "idle":
    sys.exit(int(os.environ.get("MOIRAE_NOTHING_DUE", "0")))
if kind == "broken":
    sys.exit("chunk 7: no such folder")
if kind == "long":
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    print("child", child.pid, flush=True)
    time.sleep(600)
"""

RUN_JOBS = """
import json, os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from platform_tasks import JobOperator, spark_job

def run(stream, kill=False):
    task = spark_job("do_work", stream=stream, until="2026-01-01T00:00:00+00:00")
    lines = []
    task.log.info = lambda text, *rest: lines.append(text % rest)
    if kill:
        signal.signal(signal.SIGALRM, lambda *_: task.on_kill())
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGALRM)).start()
    try:
        task.execute({})
        end = "success"
    except Exception as error:
        end = f"{type(error).__name__}: {error}"
    children = [int(line.split()[1]) for line in lines if line.startswith("child")]
    return {"end": end, "lines": lines, "alive": [pid for pid in children if alive(pid)]}

def alive(pid):
    time.sleep(0.2)
    try:
        return open(f"/proc/{pid}/stat").read().split()[2] != "Z"
    except OSError:
        return False

print(json.dumps({
    "plain": run(""), "odd": run("a b; touch /tmp/x"), "idle": run("idle"), "broken": run("broken"),
    "killed": run("long", kill=True),
}))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "do_work.py").write_text(JOB)
    settings = {"AIRFLOW_HOME": str(folder), "MOIRAE_JOBS": str(folder), "MOIRAE_CONFIG": "/etc/moirae.yaml"}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MOIRAE", "AIRFLOW"))}
    done = subprocess.run(
        [sys.executable, "-c", RUN_JOBS, str(ROOT / "dags")],
        env={**inherited, **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_job_gets_configuration_and_arguments_and_its_output_is_the_log(ran: dict[str, Any]) -> None:
    """P1: an argument that is empty is left out."""
    assert ran["plain"]["end"] == "success"
    said = ran["plain"]["lines"][-1]
    assert said == "arguments ['--config', '/etc/moirae.yaml', '--until', '2026-01-01T00:00:00+00:00']"


def test_a_parameter_never_reaches_a_shell(ran: dict[str, Any]) -> None:
    """P1: whatever is typed into the form stays one word."""
    assert "'a b; touch /tmp/x'" in ran["odd"]["lines"][-1]


def test_a_job_with_nothing_to_do_is_skipped(ran: dict[str, Any]) -> None:
    """P1: seen at a glance, and no asset is said to have changed."""
    assert ran["idle"]["end"] == "AirflowSkipException: nothing was due"


def test_a_failed_job_fails_its_task_and_says_why(ran: dict[str, Any]) -> None:
    """P1: the exit code decides, the log explains."""
    assert ran["broken"]["end"].startswith("AirflowException: job do_work: expected exit code 0, but found 1")
    assert ran["broken"]["lines"][-1] == "chunk 7: no such folder"


def test_cancelling_a_task_ends_the_job_and_all_it_started(ran: dict[str, Any]) -> None:
    """P1: no JVM is left behind."""
    assert "child" in ran["killed"]["lines"][-1]
    assert ran["killed"]["alive"] == []
    assert "found -15" in ran["killed"]["end"]
