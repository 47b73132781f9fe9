"""Make the newest chunks recent and the others old.

python jobs/retier_chunks.py --config config/embedded.yaml --stream traffic --until 2026-01-01T00:00:00Z
"""

from __future__ import annotations

import sys

from moirae.adapters.spark.lifecycle_job import run_lifecycle_job


def main(argv: list[str] | None = None) -> int:
    return run_lifecycle_job("retier_chunks", __doc__, lambda life, config: life.retier(), argv)


if __name__ == "__main__":
    sys.exit(main())
