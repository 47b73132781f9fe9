"""The one tree of errors. Fields first; the text is made from the fields.

Every message says where, what was expected, what was found and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass


class MoiraeError(Exception):
    """Anything Moirae reports to a person as one clear message, never as a traceback."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a text: 1-based line and column."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a pack. `where` is the file or pack name, `query` the statement's name if it has one."""

    span: Span
    expected: str
    found: str
    remedy: str
    query: str = ""
    where: str = ""

    def __str__(self) -> str:
        """
        >>> str(Finding(Span(3, 17), "a number", "'x'", "write 1", query="spike", where="a.sql"))
        "a.sql: query 'spike', line 3, column 17: expected a number, but found 'x'; write 1"
        """
        place = f"query '{self.query}', {self.span}" if self.query else str(self.span)
        prefix = f"{self.where}: " if self.where else ""
        return f"{prefix}{place}: expected {self.expected}, but found {self.found}; {self.remedy}"


class QueryError(MoiraeError):
    """All that is wrong with a pack, in the order of the text."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda finding: finding.span))
        super().__init__("\n".join(map(str, self.findings)))


class ConfigError(MoiraeError):
    """A configuration file, or a value in it, that cannot be used."""

    def __init__(self, file: str, key: str, problem: str, remedy: str) -> None:
        self.file, self.key = file, key
        place = f"{file}: {key}" if key else file
        super().__init__(f"{place}: {problem}; {remedy}")


class CatalogError(MoiraeError):
    """The catalog cannot be opened, or refuses a change."""


class ChunkError(MoiraeError):
    """A chunk is not in the state a step needs."""

    def __init__(self, chunk: str, problem: str, remedy: str) -> None:
        self.chunk = chunk
        super().__init__(f"chunk {chunk}: {problem}; {remedy}")


class DeployError(MoiraeError):
    """A pack cannot be deployed on this platform."""


class PlatformError(MoiraeError):
    """A process, port or folder of the platform is not as it must be."""
