"""Runs detection over what has landed and ends itself with SIGKILL when it has come to a point for the n-th time.

python tests/spark/detect_worker.py STORE_FOLDER POINT N      # N = 0: run to the end
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.spark.store import END, open_store

from moirae.adapters.spark.detect import DetectEvents
from moirae.adapters.spark.session import spark_session


def main(folder: str, point: str, times: str) -> int:
    store = open_store(Path(folder), ingest__max_files_per_batch="2", history__chunk_size="8 KiB")
    left = int(times)

    def reached(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with spark_session("detect_worker", store.config) as spark:
        query = DetectEvents(spark, store.catalog, store.config, clock=lambda: END, reached=reached).start()
        query.processAllAvailable()
        query.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
