"""The sqlglot dialect under our SELECTs: Spark SQL as Databricks writes it, with functions left as they are written.

The binder owns the table of functions, so the parser must not know any: `avg(x)` stays the call of a name. Every node
keeps the offset of a token beside it (`start`, or `near` where sqlglot records none), so that an error has a place.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.errors import ParseError
from sqlglot.parsers.databricks import DatabricksParser
from sqlglot.tokenizer_core import Token

E = TypeVar("E", bound=exp.Expr)


class UnreadableError(ParseError):
    """What sqlglot's parser could not read, with the offset of the token it stopped at (None: the end)."""

    def __init__(self, message: str, token: Token | None) -> None:
        super().__init__(message)
        self.description, self.token = message, token


class MoiraeParser(DatabricksParser):
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CAST": DatabricksParser.FUNCTION_PARSERS["CAST"]}
    NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": DatabricksParser.NO_PAREN_FUNCTION_PARSERS["CASE"],
    }

    def expression(self, instance: E, token: Token | None = None, comments: list[str] | None = None) -> E:
        made = super().expression(instance, token, comments)
        if self._prev:
            made.meta.setdefault("near", self._prev.start)
        return made

    def raise_error(self, message: str, token: Token | None = None) -> None:
        raise UnreadableError(message, token or self._curr or None)


class Moirae(Databricks):
    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'"]  # 'it''s', as Spark 4 reads it
        # WINDOW is the name of a function here, also first in a GROUP BY, never a clause of its own
        KEYWORDS: ClassVar[dict[str, Any]] = {
            word: token for word, token in Databricks.Tokenizer.KEYWORDS.items() if word != "WINDOW"
        }

    Parser = MoiraeParser
