"""The models: complete, absolute, frozen, and closed to literal secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moirae.config import Config, Secret, load_config
from moirae.config.models import History, Spark, Store, _machine_cores, known_settings, local_path
from moirae.errors import ConfigError


def test_relative_paths_are_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config.model_validate({"ingest": {"tables": "my/../tables"}})
    monkeypatch.chdir("/")
    assert config.store.path == tmp_path / ".moirae"
    assert config.catalog.url == f"sqlite:///{tmp_path}/.moirae/catalog.db"
    assert config.ingest.landing == f"{tmp_path}/.moirae/landing"
    assert config.ingest.tables == f"{tmp_path}/tables"


@pytest.mark.parametrize("place", ["/data/m", "file:/data/m", "file:///data/m", "FILE:/data/x/../m", "/data/m/"])
def test_a_folder_may_be_written_in_every_usual_way(place: str) -> None:
    assert Store(root=place).path == Path("/data/m")
    assert local_path(place) == Path("/data/m")


def test_a_bucket_has_no_folder() -> None:
    store = Store(root="s3://bucket/prefix/")
    assert (store.local, store.place) == (False, "s3://bucket/prefix")
    with pytest.raises(ConfigError, match=r"store\.root: is not a folder of this machine"):
        _ = store.path


@pytest.mark.parametrize(("master", "cores"), [("local", 1), ("local[3]", 3), ("local[*]", _machine_cores())])
def test_cores_follow_from_a_local_master_and_buckets_from_cores(master: str, cores: int) -> None:
    config = Config(spark=Spark(master=master))
    assert (config.spark.cores, config.engine.buckets) == (cores, cores)


def test_a_configuration_cannot_be_changed_or_extended() -> None:
    config = Config()
    with pytest.raises(ValidationError):
        config.history.recent_chunks = 9  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Config.model_validate({"console": {}})


@pytest.mark.parametrize("number", [128, 1.5, True, None])
def test_a_bare_number_is_refused_where_a_unit_is_needed(number: object) -> None:
    with pytest.raises(ValidationError, match="has no unit; write a number and a unit, such as '128 MiB'"):
        History.model_validate({"chunk_size": number})


@given(size=st.integers(1, 1 << 50), age=st.integers(1, 10**15))
def test_what_is_written_out_reads_back_as_the_same(size: int, age: int) -> None:
    text = {"chunk_size": f"{size} B", "chunk_age": f"{age} us", "retention": f"{age} us"}
    config = Config(history=History.model_validate(text))
    assert (config.history.chunk_size, config.history.chunk_age) == (size, age)
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_every_setting_has_a_description_of_one_line() -> None:
    for key, field in known_settings().items():
        assert field.description, key
        assert "\n" not in field.description
        assert len(field.description) <= 100, key


def test_a_secret_is_revealed_only_when_asked_and_never_shown() -> None:
    config = Config.model_validate({"catalog": {"password": "env:DB_PASSWORD"}})
    secret = config.catalog.password
    assert secret == Secret("DB_PASSWORD")
    assert secret.reveal({"DB_PASSWORD": "hunter2"}) == "hunter2"
    assert str(secret) == "env:DB_PASSWORD"
    assert '"env:DB_PASSWORD"' in config.model_dump_json()


def test_a_secret_that_is_not_set_says_which_variable_to_export() -> None:
    with pytest.raises(ConfigError, match="environment DB_PASSWORD: is not set; export DB_PASSWORD with the secret"):
        Secret("DB_PASSWORD").reveal({"DB_PASSWORD": ""})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("catalog.password", "hunter2"),
        ("catalog.password", "env:hunter2 x"),
        ("store.credentials", "AKIA:hunter2"),
        ("catalog.url", "postgresql://me:hunter2@host/db"),
        ("catalog.url", "postgresql://me:hunter2/3@host/db"),
        ("catalog.url", "postgresql://host/db?password=hunter2"),
        ("catalog.url", "mysql://me:hunter2@host/db"),
        ("store.root", "s3://key:hunter2@bucket/x"),
        ("store.endpoint", "http://key:hunter2@host"),
        ("spark.extra.spark.hadoop.fs.s3a.secret.key", "hunter2"),
        ("spark.extra.spark.x", "env:hunter2 x"),
    ],
)
@pytest.mark.parametrize("place", ["file", "environment", "option"])
def test_a_literal_secret_is_refused_and_not_repeated(tmp_path: Path, key: str, value: str, place: str) -> None:
    section, name, *rest = key.split(".", 2)
    variable = "__".join(["MOIRAE", section.upper(), name.upper(), *(part.replace(".", "__") for part in rest)])
    path = tmp_path / "a.yaml"
    path.write_text(f"{key}: '{value}'\n" if place == "file" else "", encoding="utf-8")
    environment = {variable: value} if place == "environment" else {}
    with pytest.raises(ConfigError) as caught:
        load_config(path, environment=environment, overrides={key: value} if place == "option" else {})
    assert caught.value.key == key
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert "; " in str(caught.value)


def test_a_secret_among_the_settings_of_spark_is_resolved_for_spark_alone() -> None:
    spark = Spark(extra={"spark.ssl.keyPassword": "env:KEY", "spark.a": "b"})
    assert spark.extra["spark.ssl.keyPassword"] == "env:KEY"
    assert spark.settings({"KEY": "hunter2"}) == {"spark.ssl.keyPassword": "hunter2", "spark.a": "b"}
