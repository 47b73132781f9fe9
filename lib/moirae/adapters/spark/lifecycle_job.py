"""What the lifecycle's jobs share: one step over the chunks, recorded as a run."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable

from moirae.adapters.spark.job import catalog_of, chunk_arguments, moment, run_job
from moirae.adapters.spark.lifecycle import Fields, Lifecycle
from moirae.adapters.spark.session import make_session
from moirae.config import Config, load_config
from moirae.errors import MoiraeError

# The exit code that shows a task as skipped; whoever runs the job says which, and without a word it is plain success.
NOTHING_DUE = int(os.environ.get("MOIRAE_NOTHING_DUE", "0"))


def run_lifecycle_job(
    name: str, doc: str | None, step: Callable[[Lifecycle, Config], Fields], argv: list[str] | None
) -> int:
    """Carry out one step, log one line about it and keep it in the catalog's runs."""
    args = chunk_arguments(doc).parse_args(argv)

    def work() -> int:
        config = load_config(args.config)
        catalog = catalog_of(config)
        now = moment(args.until)
        life = Lifecycle(catalog, config, now, args.stream, lambda: make_session(name, config))
        run = catalog.start_run("lifecycle", name, json.dumps({"stream": args.stream}), moment(None))
        status, fields = "failed", Fields()
        try:
            fields = step(life, config)
            status = "done"
        finally:
            catalog.finish_run(run, status, json.dumps(fields), moment(None))
            life.close()
        logging.getLogger(name).info("step done", extra={"fields": fields})
        if held := fields.get("held"):
            found = f"{name}: expected every chunk to be served, but these are held back: {json.dumps(held)}"
            raise MoiraeError(f"{found}; mend what writes such rows, `moirae chunks` shows them")
        return 0 if any(fields.values()) else NOTHING_DUE

    return run_job(name, work)
