"""Where errors end: what a person can mend is one clear line and exit code 1, wrong usage is 2, the rest is a fault."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import NOW, catalog_at

ON_THE_CATALOG = ["status", "queries", "events", "event aaaa", "chunks", "quarantine", "runs", "undeploy x"]
ON_THE_CATALOG += ["quarantine replay"]


@pytest.mark.parametrize("command", ON_THE_CATALOG)
def test_a_store_without_a_catalog_says_how_to_get_one(bare: Cli, command: str) -> None:
    """P6: nothing is made by a command that only looks."""
    message = bare.refusal(*command.split())
    assert message.startswith(f"catalog {bare.store}/catalog.db: expected a catalog, but nothing is there yet; ")
    assert "`moirae deploy`" in message
    assert "`moirae up`" in message
    assert "\n" not in message
    assert not bare.store.exists()


@pytest.mark.parametrize("command", ON_THE_CATALOG)
def test_a_catalog_that_is_none_is_one_clear_line(bare: Cli, command: str) -> None:
    """P6: a file of something else is neither changed nor shown as a traceback."""
    bare.store.mkdir()
    file = bare.store / "catalog.db"
    file.write_text("no database" * 1000)
    message = bare.refusal(*command.split())
    assert message.startswith(f"catalog sqlite:///{file}: cannot be opened (")
    assert "\n" not in message
    assert file.read_text() == "no database" * 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nonsense"], "No such command 'nonsense'."),
        (["chunks", "--nope"], "No such option: --nope"),
        (["chunks", "more"], "Got unexpected extra argument"),
        (["event"], "Missing argument 'EID'."),
        (["deploy"], "Missing argument 'PACK'."),
        (["events", "--limit", "many"], "Invalid value for '--limit'"),
        (["quarantine", "nonsense"], "No such command 'nonsense'."),
    ],
)
def test_wrong_usage_is_told_with_the_way_to_help(cli: Cli, words: list[str], message: str) -> None:
    """P6: exit code 2, so that a script can tell it from a platform that says no."""
    result = cli(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    usage, way, *_ = result.stderr.splitlines()
    assert usage.startswith("Usage: ")
    assert way.startswith("Try '")
    assert cli.misuse(*words).startswith(message)


def test_a_path_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path) -> None:
    """P6: an error of the system is an error of the surroundings, not a traceback."""
    store = tmp_path / ("n" * 300)
    message = Cli(store).refusal("queries")
    assert message == (
        f"{store}/catalog.db: expected to use it, but found: File name too long; "
        "see that it is there and that you may read and write it"
    )


@pytest.mark.parametrize("fault", [ValueError("a fault"), OSError("of no file"), AssertionError("a fault")])
def test_a_fault_of_moirae_is_not_worded_away(cli: Cli, fault: Exception) -> None:
    """P6: a traceback is what whoever mends it needs."""

    def clock() -> int:
        raise fault

    cli.clock = clock
    with pytest.raises(type(fault)) as raised:
        cli("runs")
    assert raised.value is fault


def test_errors_are_red_on_a_terminal_and_plain_in_a_pipe(bare: Cli) -> None:
    """P6: colours are for people."""
    screen = bare.screen("queries")
    assert "\x1b[31m" in screen
    assert "".join(plain(screen)) == bare.refusal("queries")
    assert "\x1b" not in bare.refusal("queries")


def test_a_long_line_of_an_error_is_not_broken_in_a_pipe(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: a script that looks for a message finds it in one piece."""
    monkeypatch.setenv("COLUMNS", "20")
    assert bare.refusal("queries").count("\n") == 0


def test_names_from_outside_are_spelled_out_in_errors(bare: Cli, tmp_path: Path) -> None:
    """P6: a path may hold anything but NUL, even bytes that are no text."""
    evil = tmp_path / "a\x1b[2J\r\udcff.sql"
    evil.write_bytes(b"CREATE \xff")
    message = bare.refusal("deploy", str(evil))
    assert f"{tmp_path}/a\\x1b[2J\\r\\udcff.sql: expected UTF-8 text" in message
    assert os.listdir(tmp_path) == [evil.name]


def test_an_output_without_utf8_spells_signs_out(cli: Cli) -> None:
    """P6: an old terminal or a pipe of a bare system is no reason to fail, and JSON stays JSON."""
    printed = printed_in_ascii(cli, "chunks")
    assert b"traffic  \\u2591\\u2592!\\u2588" in printed
    with catalog_at(cli.store) as catalog:
        catalog.record_check(catalog.chunks()[2].id, False, "größer", NOW)
    assert b"gr\\u00f6\\u00dfer" in printed_in_ascii(cli, "chunks", "--json")
    assert json.loads(printed_in_ascii(cli, "chunks", "--json")) == cli.json("chunks")


def printed_in_ascii(cli: Cli, *arguments: str) -> bytes:
    output = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(output, "ascii")) as pipe:
        cli.main(*arguments)
        pipe.flush()
    return output.getvalue()
