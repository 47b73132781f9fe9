"""Answer every event from history, newest chunk first, until told to stop.

python jobs/recall_history.py --config config/embedded.yaml
"""

from __future__ import annotations

import sys

from moirae.adapters.recalling import JOB, RecallHistory
from moirae.adapters.spark.job import catalog_of, run_job, service_arguments, stop_on_signal
from moirae.config import load_config


def main(argv: list[str] | None = None) -> int:
    args = service_arguments(__doc__).parse_args(argv)

    def work() -> int:
        config = load_config(args.config)
        RecallHistory(catalog_of(config), config).run(stop_on_signal(), args.ready)
        return 0

    return run_job(JOB, work)


if __name__ == "__main__":
    sys.exit(main())
