"""The effective configuration, one row a setting: its value as it would be written, and where it came from.

A secret is shown as its reference. Nothing here can reveal one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from pydantic.fields import FieldInfo

from moirae.config.models import Config, is_open, known_settings, spell

HEADINGS = ("key", "value", "source", "description")


@dataclass(frozen=True, slots=True)
class Setting:
    """`source` is `default`, `file:line`, `environment NAME` or `option`."""

    key: str
    value: str
    source: str
    description: str


def effective(config: Config) -> list[Setting]:
    """Every setting in the order of the models; the keys of an open table one by one."""
    return [setting for key, field in known_settings().items() for setting in _settings(config, key, field)]


def table_rows(config: Config) -> list[tuple[str, str, str, str]]:
    """The cells of `HEADINGS`, for a table on a terminal."""
    return [(each.key, each.value, each.source, each.description) for each in effective(config)]


def to_json(config: Config) -> str:
    """A list of objects, one a setting, for scripts."""
    return json.dumps([asdict(setting) for setting in effective(config)], indent=2, ensure_ascii=False)


def _settings(config: Config, key: str, field: FieldInfo) -> Iterator[Setting]:
    section, name = key.split(".")
    value = getattr(getattr(config, section), name)
    description = field.description or ""
    if is_open(field) and value:
        for own, text in value.items():
            yield Setting(f"{key}.{own}", text, config.source(f"{key}.{own}"), description)
    else:
        yield Setting(key, spell(field, value), config.source(key), description)
