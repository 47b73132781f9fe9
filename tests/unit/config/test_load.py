"""The loader: precedence, provenance, and reports that name every mistake with its line and its remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from moirae.config import Config, InvalidConfigError, find_config, load_config
from moirae.errors import ConfigError

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def save(text: str) -> Path:
        (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
        return Path("a.yaml")

    return save


def refusal(path: Path, environment: Mapping[str, str] | None = None, **overrides: str) -> list[str]:
    with pytest.raises(InvalidConfigError) as caught:
        load_config(path, environment=environment or {}, overrides=overrides)
    assert str(caught.value).splitlines() == [str(each) for each in caught.value.problems]
    return [str(each) for each in caught.value.problems]


def test_later_places_win_and_each_value_remembers_its_own(write: Write) -> None:
    """P7: defaults < file < environment < options."""
    path = write("history:\n  chunk_size: 1 MiB\n  chunk_age: 2 days\n  recent_chunks: 3\n")
    environment = {"MOIRAE__HISTORY__CHUNK_AGE": "3 days", "MOIRAE__HISTORY__RECENT_CHUNKS": "4", "HOME": "/"}
    config = load_config(path, environment=environment, overrides={"history.recent_chunks": "5"})
    history = config.history
    assert (history.chunk_size, history.chunk_age, history.recent_chunks) == (1 << 20, 3 * 86_400_000_000, 5)
    assert config.source("history.chunk_size") == "a.yaml:2"
    assert config.source("history.chunk_age") == "environment MOIRAE__HISTORY__CHUNK_AGE"
    assert config.source("history.recent_chunks") == "option"
    assert config.source("history.retention") == "default"


def test_unknown_key_is_refused_with_the_nearest_known_one(write: Write) -> None:
    assert refusal(write("\nhistory:\n  chunksize: 1 MiB\n")) == [
        "a.yaml:3: history.chunksize: is not a setting; did you mean 'history.chunk_size'?"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stoer:\n  root: x\n", "a.yaml:1: stoer: is not a setting; did you mean 'store'?"),
        ("stoer: x\n", "a.yaml:1: stoer: is not a setting; did you mean 'store'?"),
        ("chunk_size: 1 MiB\n", "a.yaml:1: chunk_size: is not a setting; did you mean 'history.chunk_size'?"),
        (
            "store:\n  chunk_size: 1\n",
            "a.yaml:2: store.chunk_size: is not a setting; did you mean 'history.chunk_size'?",
        ),
        (
            "quality:\n  zzz: 1\n",
            "a.yaml:2: quality.zzz: is not a setting; known here are quality.folder, quality.max_bad_share",
        ),
        ("store: x\n", "a.yaml:1: store: is a section, not a value; set a key in it, such as 'store.root'"),
        ("- store\n", "a.yaml: holds no sections; set a key in it, such as 'store'"),
        ("store:\n  root: [a, b]\n", "a.yaml:2: store.root: is one value, not a list or section"),
        ("store:\n  root: a\n  root: b\n", "a.yaml:3: store.root: is written twice, first on line 2"),
        ("store: {root: a}\nstore.root: b\n", "a.yaml:2: store.root: is written twice, first on line 1"),
        ("store: {}\nstore: {}\n", "a.yaml:2: store: is written twice, first on line 1"),
        ("store:\n\troot: a\n", "a.yaml:2: is not YAML: "),
        ("store: \x00\n", "a.yaml: is not YAML: it holds characters that are not text"),
        ("? [a]\n: b\n", "a.yaml:1: ?: is not a setting"),
        ("spark:\n  extra:\n    a: {b: c}\n", "a.yaml:3: spark.extra.a: is one value, not a list or section"),
        ("spark:\n  extra: x\n", "a.yaml:2: spark.extra: is a section, not a value"),
    ],
)
def test_each_mistake_of_form_is_named_with_its_line(write: Write, text: str, expected: str) -> None:
    [message] = refusal(write(text))
    assert message.startswith(expected)


def test_a_section_that_contains_itself_is_refused(write: Write) -> None:
    assert refusal(write("store: &s\n  root: *s\n"))[0].startswith("a.yaml:2: store.root: is one value")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("history: {chunk_size: 128}", "history.chunk_size: '128' is not a size; write a number and a unit, such as"),
        (
            "history: {chunk_age: 5 parsecs}",
            "history.chunk_age: '5 parsecs' is not a duration; write a number and a unit",
        ),
        ("history: {chunk_age: }", "history.chunk_age: nothing has no unit; write a number and a unit"),
        ("history: {chunk_age: 0 s}", "history.chunk_age: '0 s' is out of range; write more than '0 seconds'"),
        ("history: {recent_chunks: -1}", "history.recent_chunks: '-1' is out of range; write at least '0'"),
        (
            "history: {recent_chunks: few}",
            "history.recent_chunks: 'few' is not a valid integer; write one, such as '8'",
        ),
        ("history: {recent_chunks: }", "history.recent_chunks: has no value; write one, such as '8'"),
        (
            "history: {retention: 1 h}",
            "history.retention: is 1 hour, shorter than a chunk's age of 1 day; keep at least",
        ),
        ("history: {chunk_age: 500 days}", "history.retention: is 400 days, shorter than a chunk's age of 500 days"),
        ("quality: {max_bad_share: 2}", "quality.max_bad_share: '2' is out of range; write at most '1.0'"),
        ("quality: {max_bad_share: .nan}", "quality.max_bad_share: "),
        ("airflow: {port: 99999}", "airflow.port: '99999' is out of range; write at most '65535'"),
        ("airflow: {schedule: often}", "airflow.schedule: 'often' is no schedule; write '@hourly'"),
        ("spark: {driver_memory: 1 MiB}", "spark.driver_memory: '1 MiB' is out of range; write at least '512 MiB'"),
        ("spark: {master: 'local[0]'}", "spark.master: 'local[0]' is no Spark master; write 'local[2]'"),
        ("spark: {master: yarn}", "spark.cores: is not set, and master 'yarn' does not tell; write the cores"),
        (
            "spark: {cores: 4}",
            "spark.cores: is 4, but master 'local[2]' says 2; leave it out, or write master 'local[4]'",
        ),
        ("spark: {extra: {spark.a: }}", "spark.extra.spark.a: has no value; write one"),
        ("store: {root: 'ftp://x/y'}", "store.root: is no place Moirae can store in; write a folder"),
        ("store: {root: ''}", "store.root: no folder is named; write one"),
        ("store: {endpoint: 'host:1'}", "store.endpoint: is not the address of a service; write it as"),
        ("store: {root: 's3://b/x'}", "catalog.url: SQLite cannot live in 's3://b/x'; write the URL of a PostgreSQL"),
        ("catalog: {url: 'mysql://h/d'}", "catalog.url: is not a catalog's URL; write 'sqlite:///path' or"),
        ("ingest: {landing: '{stor}/in'}", "ingest.landing: '{stor}' stands for nothing; only '{store}'"),
    ],
)
def test_each_value_that_cannot_be_used_is_named_with_its_remedy(write: Write, text: str, expected: str) -> None:
    [message] = refusal(write(text + "\n"))
    assert message.startswith(f"a.yaml:1: {expected}")


def test_all_problems_are_reported_at_once_in_the_order_of_places_and_lines(write: Write) -> None:
    path = write("history:\n  chunk_age: soon\n  chunksize: 1 MiB\nspark:\n  master: mars\nairflow:\n  port: 0\n")
    overrides = {"recall.pol": "1 s"}
    with pytest.raises(ConfigError) as caught:
        load_config(path, environment={"MOIRAE__ENGINE__BUCKET": "3"}, overrides=overrides)
    places = [line.split(": ")[:2] for line in str(caught.value).splitlines()]
    assert places == [
        ["a.yaml:2", "history.chunk_age"],
        ["a.yaml:3", "history.chunksize"],
        ["a.yaml:5", "spark.master"],
        ["a.yaml:7", "airflow.port"],
        ["environment MOIRAE__ENGINE__BUCKET", "engine.bucket"],
        ["option", "recall.pol"],
    ]
    assert (caught.value.file, caught.value.key) == ("a.yaml:2", "history.chunk_age")


def test_a_mistaken_variable_is_answered_in_the_spelling_of_variables(write: Write) -> None:
    [message] = refusal(write(""), {"MOIRAE__HISTORY__CHUNK__SIZE": "1 MiB"})
    assert message.endswith("is not a setting; did you mean 'MOIRAE__HISTORY__CHUNK_SIZE'?")
    [message] = refusal(write(""), {"MOIRAE__STORE": "x"})
    assert message.endswith("is a section, not a value; set a key in it, such as 'MOIRAE__STORE__ROOT'")


def test_a_value_that_is_overridden_does_not_stop_the_run(write: Write) -> None:
    path = write("history:\n  chunk_age: soon\n")
    assert load_config(path, environment={}, overrides={"history.chunk_age": "1 h"}).history.chunk_age == 3_600_000_000


def test_own_keys_of_spark_come_from_every_place(write: Write) -> None:
    path = write("spark:\n  extra:\n    spark.a.b: true\n    spark.c: 1\n")
    environment = {"MOIRAE__SPARK__EXTRA__spark__maxD": "2"}
    config = load_config(path, environment=environment, overrides={"spark.extra.spark.c": "3"})
    assert config.spark.extra == {"spark.a.b": "true", "spark.c": "3", "spark.maxD": "2"}
    assert config.source("spark.extra.spark.a.b") == "a.yaml:3"
    assert config.source("spark.extra.spark.c") == "option"


def test_none_is_understood_in_variables_as_null_is_in_files(write: Write) -> None:
    path = write("airflow:\n  schedule: null\n  port: 8080\n")
    config = load_config(path, environment={"MOIRAE__AIRFLOW__PORT": "none"})
    assert (config.airflow.schedule, config.airflow.port) == (None, None)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "store:\nhistory: {}\n"])
def test_an_empty_file_means_the_defaults(write: Write, text: str) -> None:
    assert load_config(write(text), environment={}) == Config()


def test_a_file_that_cannot_be_read_is_one_clear_line(write: Write, tmp_path: Path) -> None:
    write("")
    assert refusal(Path("gone.yaml"))[0].startswith("gone.yaml: cannot be read (No such file or directory); name a")
    assert refusal(tmp_path)[0].endswith("with --config or MOIRAE_CONFIG")
    (tmp_path / "latin.yaml").write_bytes(b"store: {root: \xe9}\n")
    assert refusal(Path("latin.yaml")) == ["latin.yaml: is not UTF-8 text; save it as UTF-8"]


def test_the_file_is_found_by_variable_then_upward_then_beside_the_package(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    beside = find_config({}, inner)
    assert beside is not None
    assert beside.parts[-2:] == ("config", "embedded.yaml")
    above = tmp_path / "config" / "embedded.yaml"
    above.parent.mkdir()
    above.touch()
    assert find_config({}, inner) == above
    assert find_config({"MOIRAE_CONFIG": "/x.yaml"}, inner) == Path("/x.yaml")
