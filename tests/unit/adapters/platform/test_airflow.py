"""What Airflow is told, and how it is talked to: a small server stands in for it here, the real one in tests/dags."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from moirae.adapters.platform.airflow import (
    airflow_environment,
    airflow_login,
    airflow_processes,
    migrate,
    prepare_airflow,
)
from moirae.adapters.platform.airflow_api import AirflowClient
from moirae.adapters.platform.probes import Healthy
from moirae.errors import PlatformError


def test_airflow_lives_in_its_folder_on_the_loopback_address_only(tmp_path: Path) -> None:
    """P7: nothing is read from or written to the user's own Airflow, and nobody else on the network can reach it."""
    told = airflow_environment(tmp_path, 18080, Path("/repo/dags"), Path("/repo/config/embedded.yaml"), None)
    assert told["AIRFLOW_HOME"] == str(tmp_path)
    assert told["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert told["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:18080/execution/"
    assert told["AIRFLOW__CORE__DAGS_FOLDER"] == "/repo/dags"
    assert told["MOIRAE_CONFIG"] == "/repo/config/embedded.yaml"
    assert told["MOIRAE_SCHEDULE"] == ""


def test_airflow_is_a_migration_and_three_processes(tmp_path: Path) -> None:
    """P7: as few processes as a real Airflow can have."""
    migration, *running = airflow_processes(tmp_path, 18080, Path("/dags"), Path("/c.yaml"))
    assert (migration.name, migration.restart) == ("airflow_migrate", False)
    assert [each.name for each in running] == ["airflow_api", "airflow_scheduler", "airflow_dags"]
    assert all(each.after == ("airflow_migrate",) and each.ready for each in running)


def test_the_password_is_made_once_and_is_for_the_owner_only(tmp_path: Path) -> None:
    """P7: whoever can log in can run code."""
    home = tmp_path / "airflow"
    with pytest.raises(PlatformError, match=r"passwords\.json: expected the password of 'moirae'"):
        airflow_login(home)
    prepare_airflow(home)
    user, password = airflow_login(home)
    prepare_airflow(home)
    assert airflow_login(home) == (user, password) == ("moirae", password)
    assert len(password) >= 20
    assert stat.S_IMODE((home / "passwords.json").stat().st_mode) == 0o600
    with closing(sqlite3.connect(home / "airflow.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_migrated_database_is_not_migrated_again(tmp_path: Path) -> None:
    """P7: the second start is quicker."""
    import importlib.metadata

    (tmp_path / "migrated.txt").write_text(importlib.metadata.version("apache-airflow-core"))
    assert migrate(tmp_path, {}) is False


class FakeAirflow(BaseHTTPRequestHandler):
    calls: ClassVar[list[tuple[str, str, Any]]] = []
    tokens: ClassVar[Iterator[str]]
    states: ClassVar[Iterator[str]]
    valid: ClassVar[str] = ""
    busy: ClassVar[int] = 0

    def respond(self, code: int, body: object) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def handle_call(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        FakeAirflow.calls.append((self.command, self.path, body))
        if self.path == "/auth/token":
            FakeAirflow.valid = next(FakeAirflow.tokens)
            known = body == {"username": "moirae", "password": "secret"}
            self.respond(201 if known else 401, {"access_token": FakeAirflow.valid} if known else "who are you?")
        elif self.headers["Authorization"] != f"Bearer {FakeAirflow.valid}":
            self.respond(401, "expired")
        elif FakeAirflow.busy:
            FakeAirflow.busy -= 1
            self.respond(503, "database is locked")
        else:
            self.respond(*self.answer())

    def answer(self) -> tuple[int, object]:
        if self.path == "/api/v2/dags/absent/dagRuns":
            return 404, {"detail": "no such DAG"}
        if self.command == "PATCH":
            return 200, {"is_paused": False}
        if self.command == "POST":
            return 200, {"dag_run_id": "manual__1"}
        if self.path.endswith("/taskInstances?limit=100"):
            return 200, {"task_instances": [{"task_id": "seal_chunks", "state": None}]}
        return 200, {"state": next(FakeAirflow.states)}

    do_GET = do_POST = do_PATCH = handle_call  # noqa: N815 - names that http.server looks for

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # must not be used
    FakeAirflow.calls, FakeAirflow.busy, FakeAirflow.valid = [], 0, ""
    FakeAirflow.tokens, FakeAirflow.states = iter("abcdef"), iter(["queued", "running", "success"])
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeAirflow) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_run_is_triggered_with_its_parameters_and_followed_to_its_end(url: str) -> None:
    """P1: the lifecycle can be run by hand and watched."""
    client = AirflowClient(url, "moirae", "secret")
    run = client.trigger("history_lifecycle", {"stream": "traffic"})
    assert FakeAirflow.calls[-1][2] == {"logical_date": None, "conf": {"stream": "traffic"}}
    seen: list[dict[str, str]] = []
    assert client.wait("history_lifecycle", run, 10, seen.append, poll_s=0.01) == "success"
    assert seen == [{"seal_chunks": "none"}]


def test_an_expired_token_is_renewed(url: str) -> None:
    """P1: a platform that is up for days is still answered."""
    client = AirflowClient(url, "moirae", "secret")
    assert client.run_state("d", "r") == "queued"
    FakeAirflow.valid = "another"
    assert client.run_state("d", "r") == "running"
    assert [path for _, path, _ in FakeAirflow.calls].count("/auth/token") == 2


def test_reading_is_tried_again_when_airflow_is_busy_but_a_trigger_is_sent_once(url: str) -> None:
    """P1: one trigger, one run."""
    client = AirflowClient(url, "moirae", "secret")
    client.unpause("d")
    FakeAirflow.busy = 1
    assert client.run_state("d", "r") == "queued"
    FakeAirflow.busy = 1
    with pytest.raises(PlatformError, match=r"POST /api/v2/dags/d/dagRuns, but found: 503 .*locked"):
        client.trigger("d")


def test_refusals_name_the_address_the_call_and_the_answer(url: str) -> None:
    """P1: no traceback of a library."""
    with pytest.raises(PlatformError, match=f"{url}: expected Airflow to answer .*absent.*404 .*no such DAG"):
        AirflowClient(url, "moirae", "secret").trigger("absent")
    with pytest.raises(PlatformError, match=r"401 .*who are you"):
        AirflowClient(url, "moirae", "wrong").trigger("absent")
    with pytest.raises(PlatformError, match="Connection refused"):
        AirflowClient("http://127.0.0.1:1", "moirae", "secret").trigger("absent")


def test_a_run_that_does_not_end_is_given_up(url: str) -> None:
    """P1: the message says where to look."""
    client = AirflowClient(url, "moirae", "secret")
    with pytest.raises(PlatformError, match=r"run r: expected its end within 0 s, but found it queued"):
        client.wait("d", "r", timeout_s=0)


def test_a_probe_that_is_not_answered_is_not_ready(url: str) -> None:
    """P7: a probe never raises."""
    assert not Healthy("http://127.0.0.1:1/")()
    assert not Healthy(f"{url}/api/v2/monitor/health", "scheduler")()
