"""Runs detection over what has landed and ends itself with SIGKILL when it has come to a point for the n-th time.

python -m tests.spark.detect_worker < one line: STORE_FOLDER POINT N      # N = 0: run to the end

The line is waited for once Spark is up, so that one worker can start while another is at work.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.spark.store import END, ROOT, open_store

from moirae.adapters.spark.detect import DetectEvents
from moirae.adapters.spark.session import spark_session
from moirae.config import load_config


def main() -> int:
    with spark_session("detect_worker", load_config(ROOT / "config" / "embedded.yaml", environment={})) as spark:
        folder, point, times = sys.stdin.readline().rstrip("\n").split("\t")
        store = open_store(Path(folder), ingest__max_files_per_batch="4", history__chunk_size="12 KiB")
        left = int(times)

        def reached(name: str) -> None:
            nonlocal left
            if name == point:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        query = DetectEvents(spark, store.catalog, store.config, clock=lambda: END, reached=reached).start()
        query.processAllAvailable()
        query.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
