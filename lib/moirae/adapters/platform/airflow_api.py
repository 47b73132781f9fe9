"""Talking to a running Airflow over its REST API: some ten milliseconds a call, where its CLI takes seconds."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from moirae.adapters.platform.probes import direct
from moirae.errors import PlatformError

ENDED = frozenset({"success", "failed"})
_UNAUTHORISED, _BUSY = 401, frozenset({429, 500, 502, 503, 504})
_TRIES = 4


@dataclass(slots=True)
class AirflowClient:
    """One user's session; logs in when first needed, and again when the token is no longer taken."""

    url: str
    user: str
    password: str
    timeout_s: float = 15.0
    token: str = field(default="", repr=False)

    def knows(self, dag: str) -> bool:
        """Whether the DAG has been parsed; a new platform needs a few seconds for it."""
        return any(each["dag_id"] == dag for each in self._get("/api/v2/dags?limit=100")["dags"])

    def import_errors(self) -> dict[str, str]:
        """Trace by file."""
        return {each["filename"]: each["stack_trace"] for each in self._get("/api/v2/importErrors")["import_errors"]}

    def unpause(self, dag: str) -> None:
        self._call("PATCH", f"/api/v2/dags/{quote(dag)}", {"is_paused": False})

    def trigger(self, dag: str, conf: Mapping[str, object] | None = None) -> str:
        """Start a run by hand and return its id. `conf` is checked against the DAG's parameters."""
        body = {"logical_date": None, "conf": dict(conf or {})}
        return str(self._call("POST", f"/api/v2/dags/{quote(dag)}/dagRuns", body)["dag_run_id"])

    def run_state(self, dag: str, run: str) -> str:
        """queued, running, success or failed."""
        return str(self._get(_run_path(dag, run))["state"])

    def task_states(self, dag: str, run: str) -> dict[str, str]:
        """State by task; a task nobody looked at yet is `none`."""
        instances = self._get(f"{_run_path(dag, run)}/taskInstances?limit=100")["task_instances"]
        return {each["task_id"]: each["state"] or "none" for each in instances}

    def wait(
        self,
        dag: str,
        run: str,
        timeout_s: float,
        progress: Callable[[dict[str, str]], None] = lambda states: None,
        poll_s: float = 0.5,
    ) -> str:
        """Follow a run to its end and return its state; `progress` is called with the tasks' states as they change."""
        deadline = time.monotonic() + timeout_s
        seen: dict[str, str] = {}
        while True:
            state, tasks = self.run_state(dag, run), self.task_states(dag, run)
            if tasks != seen:
                progress(tasks)
                seen = tasks
            if state in ENDED:
                return state
            if time.monotonic() > deadline:
                raise PlatformError(
                    f"{dag}, run {run}: expected its end within {timeout_s:.0f} s, but found it {state} ({tasks}); "
                    f"see {self.url}/dags/{quote(dag)}/runs/{quote(run)}"
                )
            time.sleep(poll_s)

    def _get(self, path: str) -> Any:
        return self._call("GET", path)

    def _call(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        if not self.token:
            self._log_in()
        try:
            return self._send(method, path, body)
        except urllib.error.HTTPError as refused:
            if refused.code != _UNAUTHORISED:
                raise self._error(method, path, refused) from refused
        self._log_in()
        try:
            return self._send(method, path, body)
        except urllib.error.HTTPError as refused:
            raise self._error(method, path, refused) from refused

    def _log_in(self) -> None:
        self.token = ""
        try:
            answer = self._send("POST", "/auth/token", {"username": self.user, "password": self.password})
        except urllib.error.HTTPError as refused:
            raise self._error("POST", "/auth/token", refused) from refused
        self.token = answer["access_token"]

    def _send(self, method: str, path: str, body: Mapping[str, object] | None) -> Any:
        """One call. Reading is tried again when Airflow is busy; what changes something is sent once."""
        for attempt in range(1, _TRIES + 1):
            final = attempt == _TRIES or method != "GET"
            try:
                with direct.open(self._request(method, path, body), timeout=self.timeout_s) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as refused:
                if final or refused.code not in _BUSY:
                    raise
                refused.close()
            except OSError as error:
                if final:
                    raise self._error(method, path, error) from error
            time.sleep(0.5 * attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _request(self, method: str, path: str, body: Mapping[str, object] | None) -> urllib.request.Request:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(self.url + path, data, headers, method=method)

    def _error(self, method: str, path: str, error: OSError) -> PlatformError:
        found = str(error)
        if isinstance(error, urllib.error.HTTPError):
            with error:
                found = f"{error.code} {error.read(300).decode(errors='replace')}"
        return PlatformError(f"{self.url}: expected Airflow to answer {method} {path}, but found: {found}; see its log")


def _run_path(dag: str, run: str) -> str:
    return f"/api/v2/dags/{quote(dag)}/dagRuns/{quote(run)}"
