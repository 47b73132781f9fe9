"""How the platform's DAGs run things: jobs by name, owners and tiers by rule.

A job is a file of `jobs/`, run with the platform's configuration. In the embedded profile it is a process of the Python
that runs Airflow; in the cluster profile it is submitted to Spark. Nothing here imports Spark.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from airflow.sdk import Asset, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

JOBS = Path(os.environ.get("MOIRAE_JOBS") or Path(__file__).parents[1] / "jobs")
NOTHING_DUE = 99  # exit code by which a job may say so: the task is then shown as skipped, and no asset as changed
GRACE_S = 4.0  # Airflow gives a task 5 s before it kills it, and then nobody would end the job


class Tier(StrEnum):
    """How soon somebody must look when it is red."""

    ONE = "tier 1"  # within the hour: answers to events suffer
    TWO = "tier 2"  # within the day
    THREE = "tier 3"  # when convenient


def on_call(team: str) -> dict[str, Any]:
    """Default arguments of a DAG: whom it belongs to; a passing fault is tried again before anyone is called."""
    return {
        "owner": team,
        "retries": 2,
        "retry_delay": timedelta(seconds=30),
        "retry_exponential_backoff": 2.0,
        "execution_timeout": timedelta(hours=2),
    }


def spark_job(name: str, outlets: Sequence[Asset] = (), **arguments: str) -> BaseOperator:
    """The task `name`, running `jobs/<name>.py --config … --argument value …`.

    An argument that renders empty is left out. A task is run when none before it failed: one with nothing to do does
    not hold up the next.
    """
    common: dict[str, Any] = {"task_id": name, "outlets": list(outlets), "trigger_rule": "none_failed"}
    if os.environ.get("MOIRAE_PROFILE") == "cluster":
        return _submitted(name, arguments, common)
    return JobOperator(job=name, arguments=arguments, **common)


def _submitted(name: str, arguments: dict[str, str], common: dict[str, Any]) -> BaseOperator:
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    class SubmittedJob(SparkSubmitOperator):
        def execute(self, context: Any) -> None:
            # only now are the templates rendered
            self.application_args = [word for word in self.application_args or () if not word.endswith("=")]
            super().execute(context)

    return SubmittedJob(
        application=str(JOBS / f"{name}.py"),
        application_args=[
            f"--config={os.environ.get('MOIRAE_CONFIG', '')}",
            *(f"--{key}={value}" for key, value in arguments.items()),
        ],
        name=name,
        **common,
    )


class JobOperator(BaseOperator):
    """A job as a process: its output is the task's log, its exit code the task's fate, and no part of it survives."""

    template_fields: Sequence[str] = ("arguments",)

    def __init__(self, *, job: str, arguments: dict[str, str], **rest: Any) -> None:
        super().__init__(**rest)
        self.job = job
        self.arguments = arguments
        self._process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> None:
        argv = job_command(self.job, self.arguments)
        self.log.info("job started: %s", " ".join(argv))
        # spark-submit knows only success and failure, so a job uses the code only where this variable names it
        environment = {**os.environ, "MOIRAE_NOTHING_DUE": str(NOTHING_DUE)}
        # no shell, so that a parameter stays one word; a group of its own, so that the JVM can be ended with it
        with subprocess.Popen(
            argv,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as self._process:
            try:
                for line in self._process.stdout or ():
                    self.log.info("%s", line.rstrip())
                code = self._process.wait()
            finally:
                end_job(self._process)
        if code == NOTHING_DUE:
            raise AirflowSkipException("nothing was due")
        if code:
            raise AirflowException(f"job {self.job}: expected exit code 0, but found {code}; its last lines say why")

    def on_kill(self) -> None:
        if self._process:
            end_job(self._process)


def job_command(job: str, arguments: dict[str, str]) -> list[str]:
    given = [part for key, value in arguments.items() if value for part in (f"--{key}", value)]
    python = os.environ.get("MOIRAE_PYTHON") or sys.executable
    return [python, str(JOBS / f"{job}.py"), "--config", os.environ.get("MOIRAE_CONFIG", ""), *given]


def end_job(process: subprocess.Popen[str]) -> None:
    """Ask the job to end, then make its whole group: Spark's JVM and workers must not outlive it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
