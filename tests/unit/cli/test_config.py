"""`moirae config`: what is in force, and where each value came from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli, plain

from moirae.config.models import known_settings

FILE = "history:\n  # why\n  chunk_size: 64 MiB\nspark:\n  extra:\n    spark.ui.enabled: 'false'\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A configuration beside the working directory, named as a person would."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(FILE, "utf-8")
    return "own.yaml"


def settings(cli: Cli, *options: str) -> dict[str, tuple[str, str]]:
    return {each["key"]: (each["value"], each["source"]) for each in cli.json(*options, "config")}


def test_every_value_tells_where_it_came_from(bare: Cli, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P7: default, file and line, environment, option; the later wins, and values keep their units."""
    monkeypatch.setenv("MOIRAE__RECALL__POLL", "1 s")
    monkeypatch.setenv("MOIRAE__HISTORY__GRACE", "3 h")
    found = settings(bare, "--config", file, "--set", "history.grace=2 hours")
    assert found["store.root"] == (f"file:{bare.store}", "option")
    assert found["history.chunk_size"] == ("64 MiB", "own.yaml:3")
    assert found["spark.extra.spark.ui.enabled"] == ("false", "own.yaml:6")
    assert found["recall.poll"] == ("1 second", "environment MOIRAE__RECALL__POLL")
    assert found["history.grace"] == ("2 hours", "option")
    assert found["history.chunk_age"] == ("1 day", "default")
    assert found["catalog.url"] == (f"sqlite:///{bare.store}/catalog.db", "default")


def test_every_setting_there_is_has_a_row_and_a_description(bare: Cli, file: str) -> None:
    """P7: the table and the JSON hold the same rows in the same order."""
    found = bare.json("--config", file, "config")
    assert {each["key"] for each in found} == {*known_settings(), "spark.extra.spark.ui.enabled"} - {"spark.extra"}
    assert all(each["description"] for each in found)
    heading, *rows = bare.lines("--config", file, "config")
    assert heading.split() == ["key", "value", "source", "description"]
    assert [row.split()[0] for row in rows] == [each["key"] for each in found]


def test_a_configuration_in_the_environment_is_found(bare: Cli, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P7: for jobs, which nobody gives options."""
    monkeypatch.setenv("MOIRAE_CONFIG", file)
    assert settings(bare)["history.chunk_size"] == ("64 MiB", "own.yaml:3")


def test_a_secret_is_shown_as_its_reference(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P7: a value would end up in logs and tickets; one that is written out is refused without being repeated."""
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    own = ("--set", "catalog.url=postgresql://moirae@db/moirae", "--set")
    assert settings(bare, *own, "catalog.password=env:DB_PASSWORD")["catalog.password"][0] == "env:DB_PASSWORD"
    assert "hunter2" not in bare(*own, "catalog.password=env:DB_PASSWORD", "config").stdout
    refused = bare.refusal(*own, "catalog.password=hunter2", "config")
    assert "write 'env:NAME'" in refused
    assert "hunter2" not in refused


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("store.rot=x", "option: store.rot: is not a setting; did you mean 'store.root'?"),
        ("stor.root=x", "option: stor.root: is not a setting; did you mean 'store.root'?"),
        (
            "history.chunk-size=1 GiB",
            "option: history.chunk-size: is not a setting; did you mean 'history.chunk_size'?",
        ),
        ("recall.\x1b[2J=1", None),
        ("airflow.port=70000", "option: airflow.port: '70000' is out of range; write at most '65535'"),
    ],
)
def test_what_is_no_setting_is_refused_with_the_nearest_one(cli: Cli, setting: str, message: str | None) -> None:
    """P7: by every command alike, before anything is done; control characters are spelled out."""
    told = {cli.refusal("--set", setting, command) for command in ("config", "status", "events")}
    assert len(told) == 1
    if message is None:
        assert next(iter(told)).startswith("option: recall.\\x1b[2J: is not a setting; known here are recall.poll")
    else:
        assert told == {message}


def test_all_that_is_wrong_is_reported_at_once(bare: Cli, tmp_path: Path) -> None:
    """P7: a line each, files before options."""
    own = tmp_path / "wrong.yaml"
    own.write_text("history:\n  chunk_size: big\n  chunk_agee: 1 day\n", "utf-8")
    lines = bare.refusal("--config", str(own), "--set", "recall.pol=1 s", "config").split("\n")
    assert [line.split(": ")[0] for line in lines] == [f"{own}:2", f"{own}:3", "option"]
    assert [line.split(": ")[1] for line in lines] == ["history.chunk_size", "history.chunk_agee", "recall.pol"]


@pytest.mark.parametrize("written", ["nokey", "section.key", "=x", "key=x"])
def test_an_option_that_sets_nothing_is_wrong_usage(bare: Cli, written: str) -> None:
    """P6: the form stands in the message."""
    expected = f"Invalid value for --set: '{written}' is no setting; write section.key=value"
    assert bare.misuse("--set", written, "config") == expected


def test_a_configuration_that_is_not_there_is_named(bare: Cli) -> None:
    """P7: --config means this file, not any other that might be found."""
    message = bare.refusal("--config", "/nowhere.yaml", "config")
    assert message.startswith("/nowhere.yaml: cannot be read (No such file or directory); name a configuration")


def test_a_narrow_terminal_drops_descriptions_and_keeps_keys_whole(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: values are folded, never cut."""
    monkeypatch.setenv("COLUMNS", "70")
    lines = plain(bare.screen("config"))
    assert max(map(len, lines)) <= 70
    assert lines[0].split() == ["key", "value", "source"]
    assert lines[-1] == "too narrow for: description; --json shows all"
    assert {each["key"] for each in bare.json("config")} == {line.split()[0] for line in lines[1:-1] if line[0] != " "}


def test_help_needs_no_configuration(bare: Cli) -> None:
    """P6: whoever mends a configuration may need it."""
    assert bare("--config", "/nowhere.yaml", "config", "--help").exit_code == 0
    assert bare("--config", "/nowhere.yaml").exit_code == 0
