"""`moirae deploy`: the plan is shown, agreed to and carried out; all of a pack, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.calling import Cli
from tests.unit.cli.filled import PACK

CHANGED = PACK.replace("900", "800")


def written(cli: Cli, text: str) -> str:
    path = cli.store.parent / "other.sql"
    path.write_text(text, "utf-8")
    return str(path)


def versions(cli: Cli) -> dict[str, int]:
    return {each["name"]: each["version"] for each in cli.json("queries")}


def changes(cli: Cli, text: str, *options: str) -> list[tuple[str, str, int]]:
    found = cli.json("deploy", written(cli, text), *options)
    return [(each["name"], each["change"], each["version"]) for each in found]


def test_a_first_deploy_makes_the_catalog_and_everything_in_the_pack(bare: Cli) -> None:
    """M9: statements in the order they read each other, all in version 1."""
    assert changes(bare, PACK, "--yes") == [("traffic", "created", 1), ("large", "created", 1), ("usual", "created", 1)]
    assert [(each["kind"], each["name"], each["reads"]) for each in bare.json("queries")] == [
        ("stream", "traffic", []),
        ("event", "large", ["traffic"]),
        ("recall", "usual", ["large", "traffic"]),
    ]


def test_a_dry_run_shows_the_plan_and_leaves_no_trace(bare: Cli, cli: Cli) -> None:
    """M9: not even an empty catalog."""
    heading, *rows = bare.lines("deploy", written(cli, PACK), "--dry-run")
    assert heading.split() == ["change", "kind", "name", "version", "effect"]
    assert [row.split() for row in rows] == [
        ["created", "stream", "traffic", "v1"],
        ["created", "event", "large", "v1"],
        ["created", "recall", "usual", "v1"],
    ]
    assert not bare.store.exists()
    assert changes(cli, CHANGED, "--dry-run")[1] == ("large", "changed", 2)
    assert versions(cli) == {"traffic": 1, "large": 1, "usual": 1}


def test_a_change_tells_its_effect_and_touches_nothing_else(cli: Cli) -> None:
    """M9: a new version of the event alone; --yes asks nobody."""
    pack = written(cli, CHANGED)
    result = cli("deploy", pack, "--yes")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split(maxsplit=4) for line in result.stdout.splitlines()]
    assert rows[2][:4] == ["changed", "event", "large", "v2"]
    assert rows[2][4].strip() == "a new version, whose windows begin with the rows that land from now on"
    assert [row[0] for row in rows] == ["change", "unchanged", "changed", "unchanged", "deployed"]
    assert versions(cli) == {"traffic": 1, "large": 2, "usual": 1}


def test_the_same_pack_again_is_nothing_to_deploy(cli: Cli, pack: Path) -> None:
    """M9: blanks, case and comments are no change; nobody is asked about nothing."""
    assert cli.lines("deploy", str(pack))[-1] == "nothing to deploy: all of it is deployed already"
    loose = "-- the same\n" + PACK.replace("CREATE EVENT large AS SELECT", "create event LARGE as\n  select")
    assert {what for _, what, _ in changes(cli, loose)} == {"unchanged"}


@pytest.mark.parametrize(("answer", "code", "version"), [("y\n", 0, 2), ("n\n", 1, 1), ("", 1, 1)])
def test_nothing_is_deployed_unless_somebody_agrees(cli: Cli, answer: str, code: int, version: int) -> None:
    """M9: the question counts what would change; no answer at all is a no that says how to go on without."""
    result = cli("deploy", written(cli, CHANGED), answer=answer)
    assert result.exit_code == code
    assert "Deploy 1 statement?" in result.stderr
    assert ("nothing was done" in result.stderr) == bool(code)
    assert ("add --yes" in result.stderr) == (not answer)
    assert versions(cli)["large"] == version


def test_versions_count_on_after_a_statement_was_undeployed(cli: Cli) -> None:
    """M9: a version, once used, means one text for ever; the plan tells the number that is then taken."""
    cli("undeploy", "usual")
    assert changes(cli, PACK, "--yes")[2] == ("usual", "created", 2)
    assert versions(cli)["usual"] == 2


def test_all_errors_of_a_pack_are_reported_and_nothing_is_deployed(bare: Cli, cli: Cli) -> None:
    """M9: a line each, with file, line and column, in the order of the text; nothing of what was right is taken."""
    text = (
        "CREATE EVENT fine AS SELECT server FROM traffic WHERE bytes > 1;\n"
        "CREATE EVENT a AS SELECT server FROM traffic WHERE byts > 900;\n"
        "CREATE EVENT b AS SELECT server FROM nowhere;\n"
        "CREATE EVENT c AS SELEC server;\n"
    )
    pack = written(cli, text)
    lines = cli.refusal("deploy", pack, "--yes").split("\n")
    assert [line.split(": ")[1] for line in lines] == [
        "query 'a', line 2, column 52",
        "query 'b', line 3, column 38",
        "query 'c', line 4, column 19",
    ]
    assert (
        lines[0]
        == f"{pack}: query 'a', line 2, column 52: expected a column of 'traffic', but found 'byts'; write 'bytes'"
    )
    assert sorted(versions(cli)) == ["large", "traffic", "usual"]
    bare.refusal("deploy", pack, "--yes")
    assert not bare.store.exists()


def test_a_pack_may_not_break_what_is_deployed(bare: Cli) -> None:
    """M9: the message counts lines in the statement that would break, as it was deployed."""
    bare.store.mkdir()
    pack = PACK.replace("SELECT server, bytes FROM traffic WHERE bytes > 900", "SELECT server FROM traffic")
    assert len(changes(bare, pack, "--yes")) == 3
    lines = bare.refusal("deploy", written(bare, pack.replace(", bytes BIGINT", "")), "--yes").split("\n")
    own = f"{bare.store.parent / 'other.sql'}: query 'usual', line 8, column 15: "
    assert lines == [f"{own}expected a column of 'traffic', but found 'bytes'; known columns are at, server"]
    stream = pack.split("CREATE EVENT")[0].replace(", bytes BIGINT", "")
    lines = bare.refusal("deploy", written(bare, stream), "--yes").split("\n")
    place = "deployed already: query 'usual', line 2, column 15: "
    assert lines == [f"{place}expected a column of 'traffic', but found 'bytes'; known columns are at, server"]
    assert versions(bare)["traffic"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "{pack}: expected statements, but found none; write CREATE STREAM …, CREATE EVENT …"),
        (
            "SELECT server FROM traffic;",
            "a bare SELECT cannot be deployed; write CREATE EVENT name AS SELECT …, or use 'moirae run'",
        ),
        (
            "CREATE EVENT two AS SELECT server FROM large;",
            "event 'two': expected a stream in FROM, but found the event 'large'; "
            "events that read events cannot be run yet: read the stream and repeat the condition",
        ),
        (
            "CREATE STREAM large (at TIMESTAMP) ORDER BY at LATENESS '1 minute' FROM LANDING 'l';",
            "{pack}: query 'large', line 1, column 15: expected a name that is still free, "
            "but found 'large', a deployed event; rename it, or undeploy the other first",
        ),
    ],
    ids=["empty", "bare select", "cascade", "other kind"],
)
def test_what_cannot_be_deployed_says_what_to_write_instead(cli: Cli, text: str, message: str) -> None:
    """M9: one line, exit code 1, nothing done."""
    pack = written(cli, text)
    assert cli.refusal("deploy", pack, "--yes") == message.format(pack=pack)
    assert len(versions(cli)) == 3


def test_a_pack_that_cannot_be_read_is_named(cli: Cli) -> None:
    """P6: missing, a folder, other bytes than text."""
    missing, folder = cli.store / "no.sql", cli.store
    assert cli.refusal("deploy", str(missing)) == (
        f"{missing}: cannot be read (No such file or directory); name a pack that can"
    )
    assert cli.refusal("deploy", str(folder)) == f"{folder}: cannot be read (Is a directory); name a pack that can"
    other = cli.store / "other.sql"
    other.write_bytes(b"CREATE \xff\xfe")
    assert cli.refusal("deploy", str(other)).startswith(f"{other}: expected UTF-8 text, but found other bytes")
