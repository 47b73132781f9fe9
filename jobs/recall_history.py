"""Answer every event from history, newest chunk first, until told to stop.

python jobs/recall_history.py --config config/embedded.yaml
"""

from __future__ import annotations

import signal
import sys
import threading

from moirae.adapters.recalling import JOB, RecallHistory

from moirae.adapters.spark.job import catalog_of, job_arguments, run_job
from moirae.config import load_config


def main(argv: list[str] | None = None) -> int:
    args = job_arguments(__doc__).parse_args(argv)

    def work() -> int:
        config = load_config(args.config)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        RecallHistory(catalog_of(config), config).run(stop)
        return 0

    return run_job(JOB, work)


if __name__ == "__main__":
    sys.exit(main())
