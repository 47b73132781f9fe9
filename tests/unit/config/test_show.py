"""What is in force, and the files that are shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moirae.config import Config, effective, load_config, table_rows, to_json

SHIPPED = sorted((Path(__file__).parents[3] / "config").glob("*.yaml"))


def test_each_setting_is_shown_with_unit_source_and_description(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("catalog:\n  password: env:DB\nspark:\n  extra:\n    spark.a: 1\n", encoding="utf-8")
    environment = {"MOIRAE__HISTORY__CHUNK_SIZE": "1536 KiB", "DB": "hunter2"}
    config = load_config(path, environment=environment, overrides={"recall.poll": "1.5 s"})
    shown = {each.key: (each.value, each.source) for each in effective(config)}
    assert shown["history.chunk_size"] == ("1.5 MiB", "environment MOIRAE__HISTORY__CHUNK_SIZE")
    assert shown["recall.poll"] == ("1500 milliseconds", "option")
    assert shown["catalog.password"] == ("env:DB", f"{path}:2")
    assert shown["spark.extra.spark.a"] == ("1", f"{path}:5")
    assert shown["history.retention"] == ("400 days", "default")
    assert shown["airflow.port"] == ("none", "default")
    assert all(each.description for each in effective(config))


def test_table_and_json_tell_the_same() -> None:
    config = Config()
    told = [tuple(each.values()) for each in json.loads(to_json(config))]
    assert told == table_rows(config)
    assert ("spark.extra", "none", "default") in [row[:3] for row in told]


def test_both_profiles_are_shipped() -> None:
    assert [path.stem for path in SHIPPED] == ["cluster", "embedded"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.stem))
def test_a_shipped_file_holds_only_what_differs_from_the_defaults(path: Path) -> None:
    """P7: the profiles are the same code with other values."""
    defaults = {each.key: each.value for each in effective(Config())}
    written = [each for each in effective(load_config(path, environment={})) if each.source != "default"]
    assert written
    assert [each.key for each in written if defaults.get(each.key) == each.value] == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.stem))
def test_each_line_of_a_shipped_file_has_its_reason(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if len(line.partition("  # ")[2]) < 10] == []
    assert max(map(len, lines)) <= 120


def test_the_cluster_profile_keeps_everything_off_the_local_disk() -> None:
    config = load_config(next(path for path in SHIPPED if path.stem == "cluster"), environment={})
    assert not config.store.local
    assert config.ingest.landing == "s3://moirae/store/landing"
    assert config.catalog.url.startswith("postgresql://")
    assert config.engine.buckets == config.spark.cores == 8
