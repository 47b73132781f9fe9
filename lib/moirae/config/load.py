"""The one way to a configuration: defaults < file < environment < options, each value remembering where it came from.

Every value is text until its model reads it, so `128 MiB` means the same in a file, a variable and an option. Whatever
is wrong is reported at once, in the order of the places it stands in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from moirae.config.models import ClashError, Config, is_open, known_settings, spell
from moirae.errors import ConfigError

PREFIX = "MOIRAE__"
FILE_VARIABLE = "MOIRAE_CONFIG"
DEFAULT_FILE = Path("config/embedded.yaml")
_KNOWN = known_settings()
_SECTIONS = tuple(Config.model_fields)
_OPEN = tuple(key for key, field in _KNOWN.items() if is_open(field))
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
_NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """Where a value came from; the order is that of precedence, then of lines."""

    rank: int
    place: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.place}:{self.line}" if self.line else self.place


@dataclass(frozen=True, slots=True)
class Entry:
    key: str
    value: str | None
    source: Source


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    source: Source
    key: str
    problem: str
    remedy: str

    def error(self) -> ConfigError:
        return ConfigError(str(self.source), self.key, self.problem, self.remedy)


class InvalidConfigError(ConfigError):
    """All that is wrong with a configuration, one line each; `problems` holds them one by one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problem.error() for problem in sorted(problems))
        self.file, self.key = self.problems[0].file, self.problems[0].key
        Exception.__init__(self, "\n".join(map(str, self.problems)))


def load_config(
    path: Path | str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    overrides: Mapping[str, str] = _NO_OPTIONS,
) -> Config:
    """The configuration of this run. Without a file anywhere, the models' defaults."""
    file = Path(path) if path is not None else find_config(environment, Path.cwd())
    found = [*_from_file(file), *_from_environment(environment), *_from_options(overrides)]
    problems = [each for each in found if isinstance(each, Problem)]
    merged = {each.key: each for each in found if isinstance(each, Entry)}
    try:
        config = Config.model_validate(_nest(merged.values()))
    except ValidationError as refused:
        problems += [_reword(each, merged) for each in refused.errors(include_url=False)]
    if problems:
        raise InvalidConfigError(problems) from None  # pydantic's own report would repeat the values
    return config.with_sources({key: str(entry.source) for key, entry in merged.items()})


def find_config(environment: Mapping[str, str], start: Path) -> Path | None:
    """MOIRAE_CONFIG, else config/embedded.yaml in `start` or above it, else the one beside this package."""
    if named := environment.get(FILE_VARIABLE):
        return Path(named)
    repository = Path(__file__).resolve().parents[3]
    places = (folder / DEFAULT_FILE for folder in (start, *start.parents, repository))
    return next((place for place in places if place.is_file()), None)


def _from_file(file: Path | None) -> Iterator[Entry | Problem]:
    if file is None:
        return
    place = Source(0, str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file))
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        remedy = f"name a configuration that can be read, with --config or {FILE_VARIABLE}"
        yield Problem(place, "", f"cannot be read ({error.strerror})", remedy)
    except UnicodeDecodeError:
        yield Problem(place, "", "is not UTF-8 text", "save it as UTF-8")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        source = Source(0, place.place, mark.line + 1) if mark else place
        problem = getattr(error, "problem", None) or "it holds characters that are not text"
        yield Problem(source, "", f"is not YAML: {problem}", "write lines 'key: value', indented by spaces")
    else:
        yield from _section("", root, place, {}) if root is not None else ()


def _section(key: str, node: yaml.Node, source: Source, lines: dict[str, int]) -> Iterator[Entry | Problem]:
    """The entries of a mapping; nothing for an empty one. `lines` tells where each key was first written."""
    if node.tag == _NULL:
        return
    if not isinstance(node, yaml.MappingNode):
        yield _not_a_value(key, source)
        return
    for name, value in node.value:
        text = name.value if isinstance(name, yaml.ScalarNode) else "?"
        inner = f"{key}.{text}" if key else text
        here = Source(source.rank, source.place, name.start_mark.line + 1)
        if inner in lines:
            yield Problem(here, inner, f"is written twice, first on line {lines[inner]}", "delete one of the two")
            continue
        lines[inner] = here.line
        if inner in _SECTIONS or inner in _OPEN:
            yield from _section(inner, value, here, lines)
        else:
            yield _leaf(inner, value, here)


def _leaf(key: str, node: yaml.Node, source: Source) -> Entry | Problem:
    entry = _entry(key, None if node.tag == _NULL else str(node.value), source)
    if isinstance(entry, Problem) or isinstance(node, yaml.ScalarNode):
        return entry
    return Problem(source, key, "is one value, not a list or section", "write 'key: value' on one line")


def _from_environment(environment: Mapping[str, str]) -> Iterator[Entry | Problem]:
    for name in sorted(name for name in environment if name.startswith(PREFIX)):
        section, *rest = name.removeprefix(PREFIX).split("__")
        key = ".".join([section.lower(), *(part.lower() for part in rest[:1]), *rest[1:]])
        yield _entry(key, environment[name], Source(1, f"environment {name}"))


def _from_options(overrides: Mapping[str, str]) -> Iterator[Entry | Problem]:
    for key, value in overrides.items():
        yield _entry(key.strip(), value.strip(), Source(2, "option"))


def _entry(key: str, value: str | None, source: Source) -> Entry | Problem:
    if key in _SECTIONS or key in _OPEN:
        return _not_a_value(key, source)
    own = key.startswith(tuple(f"{table}." for table in _OPEN))
    return Entry(key, value, source) if own or key in _KNOWN else _unknown(key, source)


def _not_a_value(key: str, source: Source) -> Problem:
    keys = [known for known in _KNOWN if known.startswith(f"{key}.")] or [f"{key}.NAME" if key else _SECTIONS[0]]
    what = "is a section, not a value" if key else "holds no sections"
    return Problem(source, key, what, f"set a key in it, such as '{_spelled(keys[0], source)}'")


def _unknown(key: str, source: Source) -> Problem:
    section = key.partition(".")[0]
    candidates = _KNOWN if "." in key else (*_SECTIONS, *_KNOWN)
    near = [known for known in get_close_matches(key.lower(), candidates) if _alike(key, known)]
    if near:
        return Problem(source, key, "is not a setting", f"did you mean '{_spelled(near[0], source)}'?")
    keys = [known for known in _KNOWN if known.startswith(f"{section}.")] or _SECTIONS
    return Problem(source, key, "is not a setting", f"known here are {', '.join(keys)}")


def _alike(key: str, known: str) -> bool:
    """A common section alone makes no likeness: what follows it must be alike, too."""
    own, other = (name.partition(".")[2] or name for name in (key.lower(), known))
    return bool(get_close_matches(own, [other]))


def _spelled(key: str, source: Source) -> str:
    """The key as it is written in the place the mistake stands in."""
    return PREFIX + key.upper().replace(".", "__") if source.rank == 1 else key


def _nest(entries: Iterable[Entry]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for entry in entries:
        section, key, *rest = entry.key.split(".", 2)
        inner = nested.setdefault(section, {})
        if rest:
            inner, key = inner.setdefault(key, {}), rest[0]
        inner[key] = entry.value
    return nested


def _reword(refused: ErrorDetails, merged: Mapping[str, Entry]) -> Problem:
    """Pydantic's finding as a problem at the place the value stands in."""
    cause = refused.get("ctx", {}).get("error")
    keys = cause.keys if isinstance(cause, ClashError) else (".".join(map(str, refused["loc"])),)
    written = [merged[key] for key in keys if key in merged]
    if isinstance(cause, ValueError):
        problem, _, remedy = str(cause).rpartition("; ")
    else:
        problem, remedy = _message(refused, keys[0], written[0].value if written else None)
    return Problem(written[0].source if written else Source(-1, "default"), keys[0], problem, remedy)


def _message(refused: ErrorDetails, key: str, text: str | None) -> tuple[str, str]:
    field = _KNOWN.get(key)
    example = f", such as '{spell(field, field.default)}'" if field else ""
    if text is None:
        return "has no value", f"write one{example}"
    for limit, word in (("gt", "more than"), ("ge", "at least"), ("le", "at most")):
        bound = refused.get("ctx", {}).get(limit)
        if field and bound is not None:
            return f"'{text}' is out of range", f"write {word} '{spell(field, bound)}'"
    kind = refused["msg"].removeprefix("Input should be a valid ").partition(",")[0]
    return f"'{text}' is not a valid {kind}", f"write one{example}"
