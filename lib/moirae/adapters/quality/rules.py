"""What the rows of a stream must look like, as declared in `config/quality/<stream>.yaml`.

Each rule is an expectation about the values of one column, by Great Expectations' own name and arguments:

    - column: bytes
      expect: values_to_be_between
      min_value: 0
"""

from __future__ import annotations

import difflib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from moirae.errors import ConfigError
from moirae.model.query import StreamDef


def library() -> Any:
    """Great Expectations, loaded when it is needed: its import is slow, warns of itself and calls home."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations
        import great_expectations.expectations
    return great_expectations


@dataclass(frozen=True, slots=True)
class Rule:
    column: str
    expect: str
    arguments: tuple[tuple[str, Any], ...]

    @property
    def reason(self) -> str:
        """
        >>> Rule("bytes", "values_to_be_between", (("min_value", 0),)).reason
        'bytes: expected values to be between (min_value 0)'
        """
        given = ", ".join(f"{name} {value}" for name, value in self.arguments)
        return f"{self.column}: expected {self.expect.replace('_', ' ')}" + (f" ({given})" if given else "")

    def expectation(self) -> Any:
        return getattr(library().expectations, class_name(self.expect))(column=self.column, **dict(self.arguments))


def class_name(expect: str) -> str:
    """
    >>> class_name("values_to_be_between")
    'ExpectColumnValuesToBeBetween'
    """
    return "ExpectColumn" + "".join(word.capitalize() for word in expect.split("_"))


def load_rules(path: Path, stream: StreamDef) -> list[Rule]:
    """The rules of a file; none if there is no file."""
    if not path.is_file():
        return []
    found = yaml.safe_load(path.read_text()) or []
    if not isinstance(found, list):
        raise ConfigError(str(path), "", "expected a list of rules", "begin each rule with '- column: …'")
    return [_rule(item, f"rule {number}", path, stream) for number, item in enumerate(found, start=1)]


def _rule(item: Any, place: str, path: Path, stream: StreamDef) -> Rule:
    if not isinstance(item, dict) or not {"column", "expect"} <= item.keys():
        raise ConfigError(str(path), place, "expected 'column' and 'expect'", "see the rules of other streams")
    column, expect = str(item["column"]), str(item["expect"])
    if column not in stream.schema:
        near = difflib.get_close_matches(column, stream.schema.names, 1)
        remedy = f"did you mean '{near[0]}'?" if near else f"{stream.name} has {', '.join(stream.schema.names)}"
        raise ConfigError(str(path), place, f"stream {stream.name} has no column '{column}'", remedy)
    arguments = tuple((name, value) for name, value in item.items() if name not in ("column", "expect"))
    rule = Rule(column, expect, arguments)
    try:
        rule.expectation()
    except (AttributeError, TypeError, ValueError) as error:
        known = "values_to_be_between, values_to_not_be_null, values_to_be_in_set, values_to_match_regex, …"
        problem = f"'{expect}' with {dict(arguments)} is no expectation about values ({str(error).splitlines()[0]})"
        raise ConfigError(str(path), place, problem, f"use one of {known}") from error
    return rule
