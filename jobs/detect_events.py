"""Watch the landing folder: archive its rows in chunks and find events, until told to stop.

python jobs/detect_events.py --config config/embedded.yaml
"""

from __future__ import annotations

import sys

from moirae.adapters.spark.detect import JOB, DetectEvents
from moirae.adapters.spark.job import catalog_of, run_job, service_arguments, stop_on_signal
from moirae.adapters.spark.session import spark_session
from moirae.adapters.spark.warm import warm_up
from moirae.config import load_config


def main(argv: list[str] | None = None) -> int:
    args = service_arguments(__doc__).parse_args(argv)

    def work() -> int:
        config = load_config(args.config)
        stop = stop_on_signal()
        poll = f"{config.ingest.poll // 1000}ms"
        with spark_session(JOB, config, {"spark.sql.streaming.pollingDelay": poll}) as spark:
            warm_up(spark, config.engine.buckets)
            DetectEvents(spark, catalog_of(config), config).run(stop, args.ready)
        return 0

    return run_job(JOB, work)


if __name__ == "__main__":
    sys.exit(main())
