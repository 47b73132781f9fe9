"""Text to statements: tokens, split at semicolons, one small grammar per head, SELECT bodies by sqlglot.

A statement that cannot be read is reported and left out; the others are read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from moirae.lang.body import parse_select
from moirae.lang.cursor import Cursor
from moirae.lang.dialect import Moirae
from moirae.lang.heads import CREATE, LATER
from moirae.lang.source import RefusedError, Report, nearest
from moirae.lang.statements import CreateEvent, Name, Statement

_WHOLE = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[^'"`/-]+|/(?!\*)|-""",
    re.DOTALL,
)
_ALLOWED = "write CREATE STREAM, CREATE TABLE, CREATE EVENT, CREATE RECALL or SELECT"


def parse(report: Report) -> list[Statement]:
    """All statements that could be read, in the order of the text."""
    found = []
    for tokens in _split(_tokenize(report)):
        report.query = ""
        try:
            found.append(_statement(tokens, report))
        except RefusedError:
            continue
    report.query = ""
    return found


def _tokenize(report: Report) -> list[Token]:
    try:
        return Moirae().tokenize(report.text)
    except SqlglotError:
        at = _open_quote(report.text)
        what = "a comment that is never closed" if report.text[at : at + 2] == "/*" else "a quote that is never closed"
        report.add(at, "quotes and comments that end", what, "close it; a quote inside a text is written twice")
        return []


def _open_quote(text: str) -> int:
    """The first offset where no word, text or comment can be read whole."""
    at = 0
    while found := _WHOLE.match(text, at):
        at = found.end()
    return min(at, max(len(text) - 1, 0))


def _split(tokens: list[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            groups.append([])
        else:
            groups[-1].append(token)
    return [group for group in groups if group]


def _statement(tokens: list[Token], report: Report) -> Statement:
    cursor = Cursor(tokens, report)
    if cursor.sees("CREATE") and len(tokens) > 2:
        report.query = tokens[2].text.lower() if tokens[2].text.isidentifier() else ""
    _check_parentheses(tokens, report)
    report.query = ""
    text = report.text[tokens[0].start : tokens[-1].end + 1]
    if cursor.sees("SELECT") or cursor.sees("WITH") or cursor.sees("FROM"):
        body = parse_select(tokens, report)
        return CreateEvent(tokens[0].start, text, Name("result", tokens[0].start), body, bare=True)
    reader = _reader(cursor)
    return reader(cursor, text)


def _reader(cursor: Cursor) -> Callable[[Cursor, str], Statement]:
    if cursor.take("CREATE"):
        kind = cursor.word.upper if cursor.word else ""
        if kind in ("OR", "IF"):
            raise cursor.refuse("STREAM, TABLE, EVENT or RECALL", "leave it out: deploying a name again replaces it")
        if kind in CREATE:
            cursor.skip()
            return CREATE[kind]
    else:
        kind = cursor.word.upper if cursor.word else ""
    if kind in LATER:
        raise cursor.refuse("a statement of this version", f"{LATER[kind]}; leave the statement out for now")
    if kind in CREATE:
        raise cursor.refuse(f"CREATE {kind}", f"write CREATE before {kind}")
    suggestion = nearest(kind, [*CREATE, "SELECT"], "")
    raise cursor.refuse("a statement", f"{suggestion}, or {_ALLOWED}" if suggestion.startswith("write") else _ALLOWED)


def _check_parentheses(tokens: list[Token], report: Report) -> None:
    open_: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            open_.append(token)
        elif token.token_type is TokenType.R_PAREN and not open_:
            report.add(token.start, "a ( before this )", "')'", "add the missing ( or remove this )")
            raise RefusedError
        elif token.token_type is TokenType.R_PAREN:
            open_.pop()
    if open_:
        report.add(open_[-1].start, "a ) for this (", "the end of the statement", "add the missing )")
        raise RefusedError
