"""The DAGs as Airflow reads them: in a process of their own, with no network, no Spark and a fresh Airflow home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "history_lifecycle.golden.txt"

EMBEDDED: dict[str, str] = {}
CLUSTER = {"MOIRAE_PROFILE": "cluster", "MOIRAE_CONFIG": "/etc/moirae.yaml", "MOIRAE_SCHEDULE": ""}

READ_DAGS = """
import json, os, socket, sys
from pathlib import Path
from jinja2 import Environment
from airflow.dag_processing.dagbag import BundleDagBag

jinja = Environment()
jinja.filters["ts"] = lambda _: "2026-01-01"

def refuse(*_):
    raise OSError("parsing a DAG must not use the network")

def task(each):
    return {
        "id": each.task_id, "kind": type(each).__name__, "next": sorted(each.downstream_task_ids), "owner": each.owner,
        "retries": each.retries, "rule": each.trigger_rule.value, "outlets": [asset.name for asset in each.outlets],
        "arguments": getattr(each, "arguments", None), "submitted": submitted(each),
    }

def submitted(each):
    kind = next((base for base in type(each).__mro__ if base.__name__ == "SparkSubmitOperator"), None)
    if kind is None:
        return None
    kind.execute = lambda self, context: None  # all but the submission itself
    values = {"params": {}, "dag_run": {"run_after": ""}}
    each.application_args = [jinja.from_string(word).render(values) for word in each.application_args]
    each.execute({})
    return each.application_args

def dag(each):
    return {
        "doc": each.doc_md, "tags": sorted(each.tags), "start": each.start_date.isoformat(), "catchup": each.catchup,
        "active": each.max_active_runs, "params": list(each.params), "schedule": each.schedule,
        "tasks": [task(one) for one in each.topological_sort()],
    }

def read(profile):
    os.environ.update(profile)
    sys.modules.pop("platform_tasks", None)
    bag = BundleDagBag(sys.argv[1], bundle_path=Path(sys.argv[1]), bundle_name="dags")
    modules = sorted({name.partition(".")[0] for name in sys.modules})
    dags = {name: dag(each) for name, each in bag.dags.items()}
    return {"errors": bag.import_errors, "dags": dags, "modules": modules}

socket.socket.connect = refuse
print(json.dumps([read(profile) for profile in json.loads(sys.argv[2])]))
"""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The DAGs in both profiles, read by one process: importing Airflow is what takes the time."""
    home = tmp_path_factory.mktemp("airflow")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MOIRAE", "AIRFLOW"))}
    done = subprocess.run(
        [sys.executable, "-c", READ_DAGS, str(ROOT / "dags"), json.dumps([EMBEDDED, CLUSTER])],
        env={**inherited, "AIRFLOW_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def read(profiles: list[dict[str, Any]]) -> dict[str, Any]:
    return profiles[0]


@pytest.fixture
def clustered(profiles: list[dict[str, Any]]) -> dict[str, Any]:
    return profiles[1]


def test_dags_are_read_without_errors_spark_or_network(read: dict[str, Any]) -> None:
    """P1: parsing is cheap and works anywhere."""
    assert read["errors"] == {}
    assert set(read["dags"]) == {"history_lifecycle"}
    assert not {"pyspark", "py4j", "delta", "great_expectations", "moirae", "pyarrow", "pandas"} & set(read["modules"])


def test_every_dag_has_an_owner_a_tier_and_a_runbook(read: dict[str, Any]) -> None:
    """P1: whoever is called at night finds what to do on the page."""
    for dag in read["dags"].values():
        assert {task["owner"] for task in dag["tasks"]}.isdisjoint({"airflow", ""})
        assert len([tag for tag in dag["tags"] if tag.startswith("tier ")]) == 1
        assert all(part in dag["doc"] for part in ("**Guarantees**", "**If red**", "**Rerun**"))
        assert all(task["retries"] >= 1 for task in dag["tasks"])
        assert not dag["catchup"]


def test_the_runbook_names_every_task(read: dict[str, Any]) -> None:
    """P1: no task can be red without advice."""
    dag = read["dags"]["history_lifecycle"]
    assert [task["id"] for task in dag["tasks"] if f"`{task['id']}`" not in dag["doc"]] == []


def test_the_task_graph_is_as_agreed(read: dict[str, Any]) -> None:
    """P1: seal, check, compact, change tier, report; the golden file is the agreement."""
    assert show(read["dags"]["history_lifecycle"]) == GOLDEN.read_text()


def test_in_the_cluster_profile_jobs_are_submitted_to_spark(clustered: dict[str, Any]) -> None:
    """P7: the same graph, another way to run it, and still no Spark while parsing."""
    dag = clustered["dags"]["history_lifecycle"]
    assert clustered["errors"] == {}
    assert {task["kind"] for task in dag["tasks"]} == {"SubmittedJob"}
    assert dag["tasks"][0]["submitted"] == ["--config=/etc/moirae.yaml", "--until=2026-01-01"]
    assert dag["schedule"] is None
    assert "pyspark" not in clustered["modules"]


def show(dag: dict[str, Any]) -> str:
    head = f"{dag['schedule']} from {dag['start']}, at most {dag['active']} active, params {', '.join(dag['params'])}"
    lines = [
        f"{task['id']} ({task['kind']}, {task['rule']}) {task['arguments']} -> {task['outlets']} >> {task['next']}"
        for task in dag["tasks"]
    ]
    return "\n".join([head, *lines]) + "\n"
