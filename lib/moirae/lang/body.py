"""SELECT bodies: a slice of the file's tokens to a sqlglot tree, or a refusal at the token that stopped the parser."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokens import Token, TokenType

from moirae.lang.dialect import Moirae, Unreadable
from moirae.lang.source import Refused, Report, quoted

SEQUENCES = "sequences are not supported yet; write a filter (WHERE) or a window (GROUP BY window(…))"


def parse_select(tokens: list[Token], report: Report) -> exp.Select:
    """The tree of a body; a refusal for everything that is not one SELECT."""
    if not tokens:
        report.add(len(report.text), "SELECT", "the end of the statement", "write AS SELECT … FROM …")
        raise Refused
    _refuse_sequences(tokens, report)
    try:
        trees = Moirae().parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, report.text)
    except Unreadable as problem:
        raise _unreadable(problem, tokens, report) from None
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        # sqlglot's parser trusts its input; whatever it stumbles over, the text is what has to change
        report.add(tokens[0].start, "a SELECT", "text that cannot be read as one", "simplify the statement")
        raise Refused from None
    tree = trees[0] if trees else None
    if not isinstance(tree, exp.Select):
        _not_select(tree, tokens, report)
        raise Refused
    return tree


def _unreadable(problem: Unreadable, tokens: list[Token], report: Report) -> Refused:
    token, said = problem.token, problem.description
    expected = f"'{said.removeprefix('Expecting ')}'" if said.startswith("Expecting ") else "valid SQL"
    remedy = "check the spelling and the commas around it"
    if token is not None and token.text.upper() in ("CREATE", "SELECT"):
        remedy = "end the statement before it with ';'"
    report.add(token.start if token else tokens[-1].end + 1, expected, quoted(token), remedy)
    return Refused()


def _not_select(tree: exp.Expr | None, tokens: list[Token], report: Report) -> None:
    if isinstance(tree, exp.SetOperation):
        report.add(tokens[0].start, "one SELECT", f"{tree.key.upper()} of several", "write one query for each")
    else:
        report.add(tokens[0].start, "SELECT", quoted(tokens[0]), "write SELECT … FROM …")


def _refuse_sequences(tokens: list[Token], report: Report) -> None:
    """ESL-TS has its own grammar after the stream's name; sqlglot would fail on it with a riddle."""
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.PARTITION_BY:
            report.add(token.start, "a filter or a window", "PARTITION BY … AS (…)", SEQUENCES)
            raise Refused
