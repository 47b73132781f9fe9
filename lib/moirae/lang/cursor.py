"""A reading position in the words of one statement, for the small grammars of our heads.

sqlglot joins some keywords into one token (`ORDER BY`); here every word stands alone, but keeps its token, so that a
body can be handed on as a slice of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from moirae.lang.source import RefusedError, Report, quoted
from moirae.lang.statements import Name, Quantity


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    token: Token
    index: int  # of the token in the statement

    @property
    def upper(self) -> str:
        plain = self.token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
        return self.text.upper() if plain else ""


class Cursor:
    def __init__(self, tokens: Sequence[Token], report: Report) -> None:
        self.tokens, self.report = tokens, report
        self._words = [word for index, token in enumerate(tokens) for word in _words(token, index)]
        self._next = 0

    @property
    def word(self) -> Word | None:
        return self._words[self._next] if self._next < len(self._words) else None

    @property
    def at(self) -> int:
        return self.word.token.start if self.word else self.tokens[-1].end + 1

    def sees(self, *words: str) -> bool:
        ahead = [word.upper for word in self._words[self._next : self._next + len(words)]]
        return ahead == list(words)

    def take(self, *words: str) -> bool:
        """Step over the words if they stand here."""
        if not self.sees(*words):
            return False
        self._next += len(words)
        return True

    def skip(self) -> None:
        self._next += 1

    def expect(self, *words: str, remedy: str) -> None:
        for word in words:
            if not self.take(word):
                raise self.refuse(f"{' '.join(words)}", remedy)

    def refuse(self, expected: str, remedy: str) -> RefusedError:
        self.report.add(self.at, expected, quoted(self.word.token if self.word else None), remedy)
        return RefusedError()

    def name(self, what: str, remedy: str) -> Name:
        word = self.word
        if word is None or not _is_name(word):
            raise self.refuse(what, remedy)
        self.skip()
        return Name(word.text.lower(), word.token.start)

    def text(self, what: str, remedy: str) -> Quantity:
        """A quoted value."""
        word = self.word
        if word is None or word.token.token_type is not TokenType.STRING:
            raise self.refuse(what, remedy)
        self.skip()
        return Quantity(word.text, word.token.start)

    def value(self, what: str, remedy: str) -> Quantity:
        """A quoted value or a bare number."""
        word = self.word
        if word is None or word.token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            raise self.refuse(what, remedy)
        self.skip()
        return Quantity(word.text, word.token.start, word.token.token_type is TokenType.STRING)

    def rest(self) -> list[Token]:
        """The tokens from here to the end."""
        return list(self.tokens[self.word.index :]) if self.word else []

    def end(self, remedy: str) -> None:
        if self.word:
            raise self.refuse("the end of the statement (;)", remedy)


def _words(token: Token, index: int) -> list[Word]:
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return [Word(token.text, token, index)]
    return [Word(text, token, index) for text in token.text.split()] or [Word(token.text, token, index)]


_RESERVED = {"AS", "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "WITH", "FOR", "OVER", "CREATE"}


def _is_name(word: Word) -> bool:
    if word.token.token_type is TokenType.IDENTIFIER:
        return True
    plain = word.token.token_type is not TokenType.STRING and word.text.isidentifier()
    return plain and word.upper not in _RESERVED
