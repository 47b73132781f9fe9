"""Lines, JSON, questions and progress: each to where it belongs."""

from __future__ import annotations

import io
import sys

import pytest
import typer
from rich.text import Text
from tests.unit.cli.calling import on_terminal, plain

from moirae.cli.output import confirm, count, note, print_json, print_json_line, say, shorten, show, visible
from moirae.cli.progress import progress


def test_results_and_messages_go_their_own_ways(capsys: pytest.CaptureFixture[str]) -> None:
    """P6: a pipe gets the result alone, without colours, in lines as long as they are."""
    long = "word " * 100
    say(long, style="red")
    note("beside", style="red")
    show(Text("part", "green"), "other")
    out, err = capsys.readouterr()
    assert out == f"{long}\npart\nother\n"
    assert err == "beside\n"


def test_what_looks_like_markup_or_an_emoji_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """P6: a server may be called [bold]."""
    say("[bold]a[/bold] :smile: [link=x]y")
    assert capsys.readouterr().out == "[bold]a[/bold] :smile: [link=x]y\n"


def test_a_line_on_a_terminal_is_coloured_and_left_to_the_terminal_to_break() -> None:
    """P6: what is copied from a screen has no line ends of our making."""
    screen = on_terminal(lambda: say("x " * 200, style="green"))
    assert "\x1b[32m" in screen
    assert len(plain(screen)) == 1


def test_json_is_indented_as_a_document_and_a_line_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """P6: text as it is, where the output can hold it."""
    print_json({"a": "größer", "b": [1]})
    assert capsys.readouterr().out == '{\n  "a": "größer",\n  "b": [\n    1\n  ]\n}\n'
    print_json_line({"a": "ü\n", "b": None})
    assert capsys.readouterr().out == '{"a": "ü\\n", "b": null}\n'


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_json_is_plain_where_the_output_may_lack_signs(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """P6: JSON has a way to write every sign in ASCII."""
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding))
    print_json_line("größer █")
    assert output.getvalue() == b'"gr\\u00f6\\u00dfer \\u2588"\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("plain, with ünïcode and 服务器", "plain, with ünïcode and 服务器"),
        ("\x00\x07\x1b\x7f\x9b", "\\x00\\x07\\x1b\\x7f\\x9b"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\u202eleft\u2066", "\\u202eleft\\u2066"),
        ("\ufeff\u200b\udcff", "\\ufeff\\u200b\\udcff"),
    ],
)
def test_only_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    """P6: controls of C0 and C1, turned and invisible text, bytes that are no text."""
    assert visible(text) == shown
    assert shown.isprintable()


def test_texts_are_shortened_to_a_number_of_signs() -> None:
    """P6: the ellipsis counts, too."""
    assert [len(shorten("x" * n, 5)) for n in (4, 5, 6, 99)] == [4, 5, 5, 5]
    assert shorten("abcdef", 1) == "…"


def test_one_is_not_many() -> None:
    """P6: and none are."""
    assert [count(n, "line") for n in (0, 1, 2, 1000)] == ["0 lines", "1 line", "2 lines", "1,000 lines"]


def test_yes_asks_nobody(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """P6: nothing is read and nothing is said."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    confirm("Really?", yes=True)
    assert capsys.readouterr() == ("", "")
    assert sys.stdin.read() == "n\n"


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "maybe\n"])
def test_anything_but_yes_is_no(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    """P6: the exit code tells a script, the question is not part of the result."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    with pytest.raises(typer.Exit) as end:
        confirm("Really?", yes=False)
    assert end.value.exit_code == 1
    out, err = capsys.readouterr()
    assert "Really?" not in out
    assert err.endswith("nothing was done\n")
    assert ("add --yes" in err) == (answer in ("", "maybe\n"))


def advance(silent: bool) -> None:
    with progress("counting", silent) as tell:
        for done in range(4):
            tell(done, 3)


def test_progress_is_drawn_on_a_terminal_and_erased(capsys: pytest.CaptureFixture[str]) -> None:
    """P6: a bar while it lasts; afterwards the screen holds the result alone."""
    screen = on_terminal(lambda: advance(silent=False))
    assert "counting" in screen
    assert "100%" in screen
    assert screen.rstrip("\n").endswith("\x1b[2K")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("silent", [False, True])
def test_there_is_no_progress_in_a_pipe(capsys: pytest.CaptureFixture[str], silent: bool) -> None:
    """P6: not a sign, whether or not it was asked to be silent."""
    advance(silent)
    assert capsys.readouterr() == ("", "")


def test_silent_progress_says_nothing_on_a_terminal() -> None:
    """P6: for scripts that run in one."""
    assert on_terminal(lambda: advance(silent=True)) == ""
