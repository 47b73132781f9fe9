"""What every job does around its one function: arguments, logs, configuration, catalog, session."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from moirae.adapters.catalog import SqlCatalog, open_catalog
from moirae.config import Config
from moirae.errors import MoiraeError


def job_arguments(doc: str | None) -> argparse.ArgumentParser:
    """A parser that knows `--config`; the job's docstring is its help."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", help="configuration file (default: found as the command line finds it)")
    return parser


def service_arguments(doc: str | None) -> argparse.ArgumentParser:
    """For jobs that go on for ever: a file to write once they are ready."""
    parser = job_arguments(doc)
    parser.add_argument("--ready", type=Path, help="file to write when the job is ready")
    return parser


def stop_on_signal() -> threading.Event:
    """Set when the process is asked to end."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def chunk_arguments(doc: str | None) -> argparse.ArgumentParser:
    """For jobs over chunks: which stream, and up to when."""
    parser = job_arguments(doc)
    parser.add_argument("--stream", help="only this stream (default: all)")
    parser.add_argument("--until", help="the moment that counts as now, ISO-8601 (default: now)")
    return parser


def moment(text: str | None) -> int:
    """Microseconds of an ISO-8601 time; now without one.

    >>> moment("1970-01-01T00:00:01Z")
    1000000
    """
    if text is None:
        return time.time_ns() // 1000
    parsed = datetime.fromisoformat(text)
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1_000_000)


def catalog_of(config: Config) -> SqlCatalog:
    url = config.catalog.url
    if config.catalog.password is not None:
        user, _, host = url.partition("@")
        url = f"{user}:{config.catalog.password.reveal()}@{host}"
    return open_catalog(url)


class FieldsFormatter(logging.Formatter):
    """A constant message, then its fields."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        fields = getattr(record, "fields", {})
        return " ".join([text, *(f"{key}={json.dumps(value)}" for key, value in fields.items())])


def configure_logs() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FieldsFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for chatty in ("py4j", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def run_job(name: str, work: Callable[[], int]) -> int:
    """Run a job's work; what a person can mend is one line, anything else a traceback."""
    configure_logs()
    try:
        return work()
    except MoiraeError as error:
        logging.getLogger(name).error("%s", error)
        return 1
