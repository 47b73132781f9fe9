"""Compacts what is due and ends itself with SIGKILL at a point.

python -m tests.spark.lifecycle_worker STORE_FOLDER POINT
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.spark.store import END, open_store

from moirae.adapters.spark.lifecycle import Lifecycle
from moirae.adapters.spark.session import make_session


def main(folder: str, point: str) -> int:
    store = open_store(Path(folder))

    def reached(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    life = Lifecycle(
        store.catalog, store.config, END, None, lambda: make_session("lifecycle_worker", store.config), reached
    )
    life.compact()
    life.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
