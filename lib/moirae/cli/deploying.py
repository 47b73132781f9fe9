"""What deploying a pack would change. Decided before anything is touched, from the pack and what is deployed.

A pack is right if it binds against what is deployed, and if everything deployed still binds with it: a stream that
loses a column must not break an event that is already running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from moirae.deploy import pack_statements
from moirae.errors import DeployError, Finding, MoiraeError, QueryError
from moirae.lang import bind
from moirae.model.query import EventDef, Pack
from moirae.ports.catalog import Deployed, NewStatement, Statements

CREATED, CHANGED, UNCHANGED = "created", "changed", "unchanged"
_EFFECTS = {
    "stream": "rows that land from now on are read by the new definition",
    "table": "read anew",
    "event": "a new version, whose windows begin with the rows that land from now on",
    "recall": "asked for new events; what the old version has not finished is cancelled",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One statement of the pack: what becomes of it."""

    new: NewStatement
    what: str
    version: int

    @property
    def effect(self) -> str:
        return _EFFECTS[self.new.kind] if self.what == CHANGED else ""


def read_pack(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise MoiraeError(f"{path}: expected UTF-8 text, but found other bytes; save the pack as UTF-8") from None
    except OSError as error:
        raise MoiraeError(f"{path}: cannot be read ({error.strerror}); name a pack that can") from None


def bind_deployed(active: Sequence[Deployed]) -> Pack:
    return bind(_joined(statement.text for statement in active))


def plan_deploy(
    text: str, where: str, active: Sequence[Deployed], last_version: Callable[[str], int] = lambda name: 0
) -> list[Change]:
    """The changes in order; an error if anything is wrong with the pack or with what it would lead to.

    `last_version` tells the newest version a name ever had: versions count on after a statement was undeployed.
    """
    pack = bind(text, where=where, known=bind_deployed(active))
    statements = pack_statements(pack)
    if not statements:
        raise DeployError(f"{where}: expected statements, but found none; write CREATE STREAM …, CREATE EVENT …")
    _check_together(statements, active)
    by_name = {statement.name: statement for statement in active}
    return [_change(new, by_name.get(new.name), last_version(new.name)) for new in statements]


def _change(new: NewStatement, before: Deployed | None, last: int) -> Change:
    if before is None:
        return Change(new, CREATED, last + 1)
    same = (new.kind, new.fingerprint) == (before.kind, before.fingerprint)
    return Change(new, UNCHANGED, before.version) if same else Change(new, CHANGED, last + 1)


def plan_with(text: str, where: str, catalog: Statements) -> list[Change]:
    """The changes against what a catalog holds now."""

    def last_version(name: str) -> int:
        return max((each.version for each in catalog.versions(name)), default=0)

    return plan_deploy(text, where, catalog.active(), last_version)


def _check_together(statements: Sequence[NewStatement], active: Sequence[Deployed]) -> None:
    """Bind the whole as it would be: statements replaced in place, new ones behind."""
    texts = {deployed.name: deployed.text for deployed in active}
    texts |= {statement.name: statement.text for statement in statements}
    try:
        whole = bind(_joined(texts.values()))
    except QueryError as error:
        raise QueryError([_of_deployed(finding, texts) for finding in error.findings]) from None
    refuse_cascades(whole)


def _of_deployed(finding: Finding, texts: Mapping[str, str]) -> Finding:
    """The place in the joined text means nothing to anyone; that in the statement, as it was deployed, does."""
    begins = 1
    for text in texts.values():
        lines = _joined([text]).count("\n") + 1
        if finding.span.line < begins + lines:
            break
        begins += lines
    span = replace(finding.span, line=finding.span.line - begins + 1)
    return replace(finding, span=span, where="deployed already")


def refuse_cascades(pack: Pack) -> None:
    """An event that reads another event is bound, but nothing runs it yet."""
    events = {event.name for event in pack.events}
    for query in _event_queries(pack):
        if query.stream in events:
            raise DeployError(
                f"event '{query.name}': expected a stream in FROM, but found the event '{query.stream}'; "
                "events that read events cannot be run yet: read the stream and repeat the condition"
            )


def _event_queries(pack: Pack) -> list[EventDef]:
    return [*pack.events, *([pack.result] if pack.result else [])]


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(f"{text.rstrip().rstrip(';')};" for text in texts)


def merged(known: Pack, pack: Pack) -> Pack:
    """What is known, with the pack's definitions in place of those of the same name."""
    own = {each.name for kind in (pack.streams, pack.tables, pack.events, pack.recalls) for each in kind}
    return Pack(
        streams=(*(each for each in known.streams if each.name not in own), *pack.streams),
        tables=(*(each for each in known.tables if each.name not in own), *pack.tables),
        events=(*(each for each in known.events if each.name not in own), *pack.events),
        recalls=(*(each for each in known.recalls if each.name not in own), *pack.recalls),
        result=pack.result,
    )
