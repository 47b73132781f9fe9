"""# History lifecycle

**Guarantees**: present chunks that are due by size or age are sealed; each sealed chunk is checked, bad rows moved to
quarantine with their reason, and a chunk with too many of them held back; checked chunks are compacted into their next
generation; the newest few are recent, the others old; every run leaves a report.
No reader ever sees a half chunk: files become visible by one commit of the catalog.

**If red**:
- `seal_chunks`, `compact_chunks`, `retier_chunks`: nothing is lost and live detection goes on. The last lines of the
  task's log name the chunk and the remedy. Clear the task when it is mended.
- `check_chunks`: the check itself failed, no chunk was judged by it. The last lines of the log say why; clear the task.
- `report_lifecycle`: chunks are held back, because too many of their rows break a rule of `config/quality/`. Its log
  and `moirae chunks` name them with the reason. They are kept, but no answer reads them, and answers say so; all others
  are served. Mend what writes such rows. It stays red as long as a chunk is held back.

**Pink (skipped)** is no fault: the task found nothing to do.

**Rerun**: any run can be cleared and run again, or started by hand for one `stream` or as of a time `until`; steps that
were already taken are not taken again. One run is active at a time.
"""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import Asset, Param, dag
from platform_tasks import Tier, on_call, spark_job

chunks = Asset("history.chunks")
report_asset = Asset("history.report")


@dag(
    schedule=os.environ.get("MOIRAE_SCHEDULE", "@hourly") or None,
    start_date=pendulum.datetime(2025, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=[Tier.ONE],
    default_args=on_call("history"),
    params={
        "stream": Param(
            None, type=["null", "string"], pattern="^[A-Za-z_][A-Za-z0-9_]*$", description="one stream; all if empty"
        ),
        "until": Param(
            None, type=["null", "string"], format="date-time", description="as of this time; the run's own if empty"
        ),
    },
)
def history_lifecycle() -> None:
    stream, until = "{{ params.stream or '' }}", "{{ params.until or dag_run.run_after | ts }}"
    seal = spark_job("seal_chunks", outlets=[chunks], stream=stream, until=until)
    check = spark_job("check_chunks", stream=stream, until=until)
    compact = spark_job("compact_chunks", outlets=[chunks], stream=stream, until=until)
    retier = spark_job("retier_chunks", outlets=[chunks], stream=stream, until=until)
    report = spark_job("report_lifecycle", outlets=[report_asset], stream=stream, until=until)

    seal >> check >> compact >> retier >> report


history_lifecycle()
