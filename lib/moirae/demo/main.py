"""The demonstration from end to end.

python -m moirae.demo.main              # up, seven days, a live stretch, the lifecycle, a verdict, down
python -m moirae.demo.main --keep       # leave the platform running afterwards
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from moirae.adapters.catalog import SqlCatalog
from moirae.adapters.platform import PlatformState, start_detached, stop
from moirae.adapters.platform.airflow import airflow_login
from moirae.adapters.platform.airflow_api import AirflowClient
from moirae.adapters.platform.embedded import AIRFLOW, embedded_plan
from moirae.adapters.spark.job import catalog_of
from moirae.config import Config, load_config
from moirae.demo.recalled import Recalled, recompute
from moirae.demo.summary import show_summary
from moirae.demo.verdict import compare_events, compare_rows
from moirae.deploy import pack_statements
from moirae.errors import MoiraeError, PlatformError
from moirae.lang import bind
from moirae.simulator import LivePacer, Spec, Written, incidents, write_history

ROOT = Path(__file__).resolve().parents[3]
HOUR = 3_600_000_000
DAY = 24 * HOUR
LIVE_US = 40 * 60_000_000
SPEED = 60.0
PATIENCE_S = 300.0
DAG = "history_lifecycle"


@dataclass(slots=True)
class Demo:
    """The steps share what they learn; `took` is how long each one was."""

    config: Config
    seed: int
    days: int
    console: Console
    progress: Progress
    took: dict[str, float] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    specs: list[Spec] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, total: float | None = None) -> Iterator[TaskID]:
        """A line of progress and a time."""
        began = time.monotonic()
        task = self.progress.add_task(name, total=total)
        yield task
        self.took[name] = time.monotonic() - began
        self.progress.update(task, total=1, completed=1)

    def run(self, now: int) -> bool:
        """All of it; whether every figure agrees with the truth."""
        catalog = catalog_of(self.config)
        self.fill_history(catalog, now)
        with self.step("platform up"):
            plan = embedded_plan(self.config, ROOT)
            state = start_detached(plan, self._show_start)
        self.await_rows(catalog, "history archived and searched")
        self.live_stretch()
        self.await_rows(catalog, "live rows taken")
        self.await_recalls(catalog)
        self.run_lifecycle(state)
        return self.judge(catalog)

    def fill_history(self, catalog: SqlCatalog, now: int) -> None:
        pack = bind((ROOT / "config" / "queries" / "datacentre.sql").read_text(), where="datacentre.sql")
        catalog.deploy(pack_statements(pack), now)
        start = now - LIVE_US - 5 * 60_000_000
        start -= start % 60_000_000
        history = Spec(seed=self.seed, start_us=start - self.days * DAY, end_us=start)
        live = Spec(seed=self.seed, start_us=start, end_us=start + LIVE_US, incidents_at_least=1)
        self.specs = [history, live]
        with self.step(f"{self.days} days simulated", total=history.span_us) as task:
            folder = Path(self.config.ingest.landing)

            def show(done: int, total: int) -> None:
                self.progress.update(task, completed=done, total=total)

            self.written.append(write_history(history, folder, rows_per_file=20_000, progress=show))

    def _show_start(self, state: PlatformState) -> None:
        waiting = [each.name for each in state.processes if each.state not in ("ready", "done")]
        last = self.progress.tasks[-1].id
        self.progress.update(last, description=f"platform up{': waiting for ' + ', '.join(waiting) if waiting else ''}")

    def await_rows(self, catalog: SqlCatalog, name: str) -> None:
        """Until every line written so far has been archived, found late or refused."""
        wanted = sum(part.lines for part in self.written)
        with self.step(name, total=wanted) as task:

            def taken() -> bool:
                done = sum(counts.landed for counts in catalog.totals().values())
                self.progress.update(task, completed=done)
                return done >= wanted

            self._wait(taken, name)

    def live_stretch(self) -> None:
        live = self.specs[1]
        with self.step(
            f"{LIVE_US // 60_000_000} minutes live at {SPEED:.0f} times their speed", total=live.span_us
        ) as task:

            def show(done: int, total: int) -> None:
                self.progress.update(task, completed=done, total=total)

            pacer = LivePacer(spec=live, folder=Path(self.config.ingest.landing), speed=SPEED, progress=show)
            self.written.append(pacer.run())

    def await_recalls(self, catalog: SqlCatalog) -> None:
        with self.step("events answered from history") as task:

            def answered() -> bool:
                counts = catalog.task_counts()
                self.progress.update(task, total=sum(counts.values()), completed=counts["complete"])
                return counts["pending"] + counts["running"] == 0

            self._wait(answered, "recalls")

    def run_lifecycle(self, state: PlatformState) -> None:
        with self.step("lifecycle run by Airflow") as task:
            name, password = airflow_login(self.config.store.path / "airflow")
            client = AirflowClient(state.addresses[AIRFLOW], name, password)
            self._wait(lambda: client.knows(DAG), "Airflow to know the DAG")
            run = client.trigger(DAG, {})

            def ended() -> bool:
                tasks = client.task_states(DAG, run)
                now = next((name for name, state in tasks.items() if state == "running"), "")
                self.progress.update(task, description=f"lifecycle run by Airflow{': ' + now if now else ''}")
                return client.run_state(DAG, run) in ("success", "failed")

            self._wait(ended, "the lifecycle")
            if client.run_state(DAG, run) != "success":
                states = client.task_states(DAG, run)
                raise PlatformError(
                    f"lifecycle: expected success, but found {states}; see {self.config.store.path}/airflow/logs"
                )

    def judge(self, catalog: SqlCatalog) -> bool:
        history, live = self.specs
        must = [i for spec in self.specs for i in incidents(spec) if i.detectable(spec.start_us, spec.end_us)]
        every = [*incidents(history), *incidents(live)]
        rows = compare_rows(self.written, catalog.totals())
        found = compare_events(must, every, catalog.events(limit=1_000_000))
        recalled = self._recalled(catalog)
        show_summary(self.console, catalog, rows, found, recalled, self.took)
        return (
            all(line.right for line in rows) and all(f.right for f in found) and recalled is not None and recalled.right
        )

    def _recalled(self, catalog: SqlCatalog) -> Recalled | None:
        events = catalog.events("bandwidth_flood", limit=1, since=self.specs[1].start_us)
        return recompute(catalog, events[0], "traffic", "bytes") if events else None

    def _wait(self, settled: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not settled():
            if time.monotonic() > deadline:
                logs = self.config.store.path / "logs"
                raise PlatformError(f"{what}: expected an end within {PATIENCE_S:.0f} s, but found none; see {logs}")
            time.sleep(0.3)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the platform running")
    parser.add_argument("--seed", type=int, default=7, help="of the simulated data centre")
    parser.add_argument("--days", type=int, default=7, help="of history")
    args = parser.parse_args(argv)
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="moirae-demo-"))
    overrides = {
        "store.root": f"file:{folder}",
        "airflow.schedule": "none",  # the demonstration runs the lifecycle itself
        "ingest.max_files_per_batch": "12",  # about a day and a half of history a batch
        "history.chunk_age": "3 days",
        "history.recent_chunks": "1",
    }
    config = load_config(ROOT / "config" / "embedded.yaml", overrides=overrides)
    columns = (TextColumn("{task.description:<60}"), BarColumn(bar_width=30), TimeElapsedColumn())
    right = False
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            demo = Demo(config, args.seed, args.days, console, progress)
            with _said_in_lines(demo, console):
                right = demo.run(time.time_ns() // 1000)
    except MoiraeError as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        console.print(f"The platform's folder is kept: {folder}")
        stop(folder)
        return 1
    if args.keep:
        console.print(
            f"The platform goes on in {folder}; take it down with: moirae --set store.root=file:{folder} down"
        )
        return 0 if right else 1
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)
    console.print("[green]All figures agree with the truth.[/green]" if right else "[red]Some figures are wrong.[/red]")
    return 0 if right else 1


@contextmanager
def _said_in_lines(demo: Demo, console: Console) -> Iterator[None]:
    """Where there is no terminal to draw on, a line whenever a step begins, and one every ten seconds."""
    done = threading.Event()

    def say() -> None:
        said: tuple[str, int] = ("", 0)
        while not done.wait(0.5):
            tasks = list(demo.progress.tasks)
            now = (tasks[-1].description, int(time.monotonic()) // 10) if tasks else said
            if now != said:
                said = now
                share = f" {tasks[-1].percentage:.0f} %" if tasks[-1].total and tasks[-1].percentage < 100 else ""
                console.print(f"{time.strftime('%H:%M:%S')} {now[0]}{share}", highlight=False)

    thread = threading.Thread(target=say, daemon=True)
    if not console.is_terminal:
        thread.start()
    try:
        yield
    finally:
        done.set()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
