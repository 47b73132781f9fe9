"""Judge sealed chunks with their Great Expectations suite; hold back those that fail.

python jobs/check_chunks.py --config config/embedded.yaml --stream traffic --until 2026-01-01T00:00:00Z
"""

from __future__ import annotations

import sys

from moirae.adapters.quality import expectations_gate
from moirae.adapters.spark.lifecycle_job import run_lifecycle_job


def main(argv: list[str] | None = None) -> int:
    return run_lifecycle_job(
        "check_chunks", __doc__, lambda life, config: life.check(lambda: expectations_gate(life.catalog, config)), argv
    )


if __name__ == "__main__":
    sys.exit(main())
