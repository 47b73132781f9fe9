"""`moirae run`: a pack over files, with no platform."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.calling import Cli

from moirae import run

STREAM = (
    "CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) "
    "ORDER BY at LATENESS '1 minute' FROM LANDING 'traffic';\n"
)
LARGE = "CREATE EVENT large AS SELECT server, bytes FROM traffic WHERE bytes > 900;\n"
BEFORE = (
    "CREATE RECALL before FOR large e OVER LAST '10 days' AS "
    "SELECT count(*) AS n, avg(h.bytes) AS mean FROM HISTORY(traffic) h WHERE h.server = e.server;\n"
)
ROWS = (
    "at,server,bytes\n"
    "2026-07-01T00:00:00Z,srv-01,100\n"
    "2026-07-02T00:00:00Z,srv-01,300\n"
    "2026-07-02T00:00:01Z,srv-02,200\n"
    "2026-07-03T00:00:00Z,srv-01,1000\n"
    "2026-07-03T00:00:01Z,srv-02,\n"
)


class Runner:
    """`moirae run` over one file of rows."""

    def __init__(self, cli: Cli, folder: Path, rows: str = ROWS) -> None:
        self.cli, self.folder = cli, folder
        self.pack, self.rows = folder / "pack.sql", folder / "traffic.csv"
        self.rows.write_text(rows, "utf-8")

    def arguments(self, text: str, *options: str) -> list[str]:
        self.pack.write_text(text, "utf-8")
        return ["run", str(self.pack), "--input", f"traffic={self.rows}", *options]

    def lines(self, text: str, *options: str) -> list[str]:
        return self.cli.lines(*self.arguments(text, *options))

    def objects(self, text: str, *options: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines(text, *options)]

    def refusal(self, text: str, *options: str) -> str:
        return self.cli.refusal(*self.arguments(text, *options))


@pytest.fixture
def runner(bare: Cli, tmp_path: Path) -> Runner:
    return Runner(bare, tmp_path)


def test_events_are_printed_as_a_table_with_a_title(runner: Runner) -> None:
    """P8: how many rows, then each; no store is needed and none is made."""
    title, heading, row = runner.lines(STREAM + LARGE)
    assert title == "large: 1 row"
    assert heading.split() == ["eid", "at", "server", "bytes"]
    assert row.split()[1:] == ["2026-07-03T00:00:00.000000Z", "srv-01", "1000"]
    assert not runner.cli.store.exists()


def test_a_query_that_finds_nothing_says_so(runner: Runner) -> None:
    """P8: in CSV that is a header without rows, in JSON nothing at all."""
    nothing = STREAM + LARGE.replace("900", "9000")
    assert runner.lines(nothing) == ["large found nothing"]
    assert runner.lines(nothing, "--format", "csv") == ["eid,at,server,bytes"]
    assert runner.lines(nothing, "--format", "json") == []


def test_json_is_an_object_a_row_with_types_kept(runner: Runner) -> None:
    """P8: numbers stay numbers, NULL stays null; --json is short for --format json."""
    everything = STREAM + "SELECT server, bytes, at FROM traffic;"
    found = runner.objects(everything, "--json")
    assert found[3:] == [
        {"server": "srv-01", "bytes": 1000, "at": "2026-07-03T00:00:00.000000Z"},
        {"server": "srv-02", "bytes": None, "at": "2026-07-03T00:00:01.000000Z"},
    ]
    assert runner.objects(everything, "--format", "json") == found
    assert runner.objects(everything, "--format", "csv", "--json") == found


def test_csv_can_be_read_back(runner: Runner) -> None:
    """P8: one header, times in ISO-8601, nothing for NULL, quotes where they are needed."""
    runner.rows.write_text('at,server,bytes\n2026-07-03T00:00:00Z,"a, ""b""",1000\n', "utf-8")
    rows = list(csv.DictReader(runner.lines(STREAM + LARGE, "--format", "csv")))
    assert [(row["at"], row["server"], row["bytes"]) for row in rows] == [
        ("2026-07-03T00:00:00.000000Z", 'a, "b"', "1000")
    ]
    runner.rows.write_text(ROWS, "utf-8")
    assert runner.lines(STREAM + "SELECT server, bytes FROM traffic;", "--format", "csv")[-1] == "srv-02,"


def test_every_revision_of_a_recall_is_a_row_with_what_it_covers(runner: Runner) -> None:
    """M14, M16: chunk by chunk, newest first; the last one is complete."""
    found = runner.objects(STREAM + LARGE + BEFORE, "--query", "before", "--json")
    assert [(each["op"], each["chunks_done"], each["complete"]) for each in found][-1] == ("update", len(found), True)
    assert (found[-1]["n"], found[-1]["mean"]) == (2, 200.0)
    assert [each["covered_from"] for each in found] == sorted((each["covered_from"] for each in found), reverse=True)
    whole = runner.objects(STREAM + LARGE + BEFORE, "--query", "BEFORE", "--json", "--chunk", "30 days")
    assert (len(whole), whole[-1]["n"]) == (1, 2)
    assert len(found) > 1


def test_rows_of_several_queries_say_whose_they_are(runner: Runner) -> None:
    """P8: a leading column in CSV and JSON, a title in tables; --query prints one alone."""
    text = STREAM + LARGE + "CREATE EVENT small AS SELECT server FROM traffic WHERE bytes < 250;\n"
    found = runner.objects(text, "--json")
    assert [(each["query"], each["server"]) for each in found] == [
        ("large", "srv-01"),
        ("small", "srv-01"),
        ("small", "srv-02"),
    ]
    labels = [line.split(",")[0] for line in runner.lines(text, "--format", "csv")]
    assert labels == ["query", "large", "query", "small", "small"]
    assert [line for line in runner.lines(text) if ": " in line] == ["large: 1 row", "small: 2 rows"]
    assert {"query", "bytes"}.isdisjoint(runner.objects(text, "--json", "--query", "Small")[0])


def test_a_column_called_query_cannot_stand_beside_whose_row_it_is(runner: Runner) -> None:
    """P8: the message names the query, and both ways out work."""
    text = STREAM + LARGE + "CREATE EVENT named AS SELECT server AS query FROM traffic WHERE bytes > 900;\n"
    message = runner.refusal(text, "--json")
    assert message.startswith("query 'named': expected no column 'query' beside the one that tells whose a row is")
    assert runner.objects(text, "--json", "--query", "named")[0]["query"] == "srv-01"
    assert runner.objects(text.replace("AS query", "AS q"), "--json")[1]["q"] == "srv-01"


def test_what_is_printed_is_what_python_gets(runner: Runner) -> None:
    """P8: `moirae.run` and `moirae run` are one."""
    text = STREAM + LARGE
    expected = run(text, inputs={"traffic": str(runner.rows)})["large"].to_pylist()
    found = runner.objects(text, "--json")
    assert [(each["eid"], each["bytes"]) for each in found] == [(each["eid"], each["bytes"]) for each in expected]


def test_what_is_left_out_is_told_with_its_place_in_the_input(runner: Runner) -> None:
    """P4: lines that are no rows, with the line of the file as it was given; rows that come too late, counted."""
    late = "2026-07-01T00:00:00Z,srv-01,5\n" * 2
    wrong = "2026-07-03T00:00:00Z,srv-01,many\nyesterday,srv-01,1\n"
    runner.rows.write_text(ROWS + wrong + late, "utf-8")
    done = runner.cli(*runner.arguments(STREAM + LARGE, "--json"))
    assert done.exit_code == 0
    assert [json.loads(line)["bytes"] for line in done.stdout.splitlines()] == [1000]
    assert done.stderr.splitlines() == [
        "traffic: 2 lines refused:",
        "  line 7: bytes: expected BIGINT, found 'many'",
        "  line 8: at: expected a TIMESTAMP, found 'yesterday'",
        "traffic: 2 rows left out, more than 1 minute late",
    ]


def test_of_many_refused_lines_the_first_are_told(runner: Runner) -> None:
    """P4: a file in the wrong form is one screen, not a flood; Python is told the same."""
    told: list[str] = []
    lines = "at,server,bytes\n" + "2026-07-01T00:00:00Z,s,x\n" * 1000
    runner.rows.write_text(lines, "utf-8")
    run(STREAM + LARGE, {"traffic": runner.rows}, warn=told.append)
    assert told[0] == "traffic: 1,000 lines refused, the first:"
    assert told[1:] == [f"  line {number}: bytes: expected BIGINT, found 'x'" for number in (2, 3, 4)]


def test_values_cannot_steer_the_terminal(runner: Runner) -> None:
    """P6: spelled out in tables, kept for scripts."""
    runner.rows.write_text("at,server,bytes\n2026-07-03T00:00:00Z,a\x1b[2J,1000\n", "utf-8")
    assert "a\\x1b[2J" in runner.lines(STREAM + LARGE)[2]
    assert runner.objects(STREAM + LARGE, "--json")[0]["server"] == "a\x1b[2J"


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("CREATE EVENT e AS SELECT byts FROM traffic;", "query 'e', line 2, column 26", "'byts'; write 'bytes'"),
        ("SELECT server\nFROM trafic;", "line 3, column 6", "'trafic'; write 'traffic'"),
        ("SELECT server FROM traffic WHERE bytes > 'x' + ;", "line 2, column 47", "the end of the statement"),
        ("CREATE EVENT e AS SELEC server FROM traffic;", "query 'e', line 2, column 19", "'SELEC'"),
    ],
)
def test_bad_sql_is_told_with_line_and_column(runner: Runner, text: str, place: str, found: str) -> None:
    """P6: file, statement, place, what was found and what to write instead."""
    message = runner.refusal(STREAM + text)
    assert message.startswith(f"{runner.pack}: {place}")
    assert f"but found {found}" in message


def test_all_errors_of_a_pack_are_reported_before_any_row_is_read(runner: Runner) -> None:
    """P6: a line each; the rows need not even be there."""
    runner.rows.unlink()
    lines = runner.refusal(
        STREAM + "CREATE EVENT a AS SELECT x FROM traffic;\nCREATE EVENT b AS SELECT y FROM traffic;"
    )
    assert [line.split(": ")[1] for line in lines.split("\n")] == [
        "query 'a', line 2, column 26",
        "query 'b', line 3, column 26",
    ]


def test_inputs_that_do_not_fit_the_pack_are_told(runner: Runner, tmp_path: Path) -> None:
    """P6: one missing, one too many, one that is not there, one that is a folder, a query nobody knows."""
    arguments = runner.arguments(STREAM + LARGE)
    refusal = runner.cli.refusal
    missing = "stream 'traffic': expected an input, but found none; add --input traffic=FILE"
    assert refusal(*arguments[:2]) == missing
    too_many = "input 'logins': expected a stream or table of the pack, but found none; the pack knows traffic"
    assert refusal(*arguments, "--input", "logins=x.csv") == too_many
    gone = f"input 'traffic': expected a file at {tmp_path}/no.csv, but found none (No such file or directory)"
    assert refusal(*arguments[:2], "--input", f"traffic={tmp_path}/no.csv").startswith(gone)
    assert "(Is a directory)" in refusal(*arguments[:2], "--input", f"traffic={tmp_path}")
    unknown = "query 'nope': expected one of large, but found no such query; choose one"
    assert refusal(*arguments, "--query", "nope") == unknown
    no_pack = "cannot be read (No such file or directory); name a pack that can"
    assert refusal("run", f"{tmp_path}/no.sql") == f"{tmp_path}/no.sql: {no_pack}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "warp"), "'warp' is not one of 'process', 'batch', 'stream'"),
        (("--format", "xml"), "'xml' is not one of 'table', 'csv', 'json'"),
        (("--chunk", "0 s"), "Invalid value for --chunk: '0 s' is no time at all; write a longer one"),
        (("--chunk", "soon"), "Invalid value for --chunk: 'soon' is not a duration"),
        (("--input", "traffic"), "Invalid value for --input: 'traffic' names no input; write stream=file"),
        (("--input", "=x.csv"), "Invalid value for --input: '=x.csv' names no input; write stream=file"),
        (("--input", "Traffic=x.csv"), "Invalid value for --input: 'traffic' is given twice; put its rows into one"),
    ],
)
def test_options_that_mean_nothing_are_wrong_usage(runner: Runner, options: tuple[str, ...], message: str) -> None:
    """P6: exit code 2; a second file of a stream is not dropped in silence."""
    assert message in runner.cli.misuse(*runner.arguments(STREAM + LARGE, *options))
