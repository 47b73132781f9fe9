"""Fixtures for all tests: one Spark session for the run, started when the first test asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from moirae.adapters.spark.session import make_session
from moirae.config import load_config

ROOT = Path(__file__).resolve().parent.parent

# A run of the tests tries the same examples every time; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = make_session("tests", load_config(ROOT / "config" / "embedded.yaml", environment={}))
    yield session
    session.stop()
