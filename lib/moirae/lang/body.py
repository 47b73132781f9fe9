"""SELECT bodies: a slice of the file's tokens to a sqlglot tree, or a refusal at the token that stopped the parser."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from moirae.lang.dialect import Moirae, UnreadableError
from moirae.lang.source import RefusedError, Report, quoted

SEQUENCES = "sequences are not supported yet; write a filter (WHERE) or a window (GROUP BY window(…))"
DEPTH = 150  # levels of a tree; whoever walks it recursively stays far below Python's limit


def parse_select(tokens: list[Token], report: Report) -> exp.Select:
    """The tree of a body; a refusal for everything that is not one SELECT."""
    if not tokens:
        report.add(len(report.text), "SELECT", "the end of the statement", "write AS SELECT … FROM …")
        raise RefusedError
    _refuse_sequences(tokens, report)
    try:
        trees = Moirae().parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, report.text)
    except UnreadableError as problem:
        raise _unreadable(problem, tokens, report) from None
    except RecursionError:
        raise too_deep(tokens[0].start, report) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        # sqlglot's parser trusts its input; whatever it stumbles over, the text is what has to change
        report.add(tokens[0].start, "a SELECT", "text that cannot be read as one", "simplify the statement")
        raise RefusedError from None
    tree = trees[0] if trees else None
    if not isinstance(tree, exp.Select):
        _not_select(tree, tokens, report)
        raise RefusedError
    if _depth(tree) > DEPTH:
        raise too_deep(tokens[0].start, report)
    return tree


def too_deep(at: int, report: Report) -> RefusedError:
    report.add(at, "a query nested less deeply", "too many levels", "use IN (…) for long lists of OR, or split it")
    return RefusedError()


def _depth(tree: exp.Expr) -> int:
    """Levels of the tree, counted without recursion."""
    level, depth = [tree], 0
    while level:
        level, depth = [child for node in level for child in node.iter_expressions()], depth + 1
    return depth


def _unreadable(problem: UnreadableError, tokens: list[Token], report: Report) -> RefusedError:
    token, said = problem.token, problem.description
    expected = f"'{said.removeprefix('Expecting ')}'" if said.startswith("Expecting ") else "valid SQL"
    remedy = "check the spelling and the commas around it"
    if token is not None and token.text.upper() in ("CREATE", "SELECT"):
        remedy = "end the statement before it with ';'"
    report.add(token.start if token else tokens[-1].end + 1, expected, quoted(token), remedy)
    return RefusedError()


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
            raise RefusedError
