"""Golden files of the language. `MOIRAE_GOLDEN=1` rewrites them; the difference is then reviewed.

`errors/*.sql` begin with the exact messages as `-- refused: …` lines; `bound/*.sql` have the bound form in `*.txt`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moirae.errors import QueryError
from moirae.lang import bind
from moirae.model.explain import explain

GOLDEN = Path(__file__).parents[2] / "golden"
REWRITE = os.environ.get("MOIRAE_GOLDEN") == "1"
PREFIX = "-- refused: "


def refusals(body: str, offset: int) -> list[str]:
    """Messages of the text below `offset` header lines, whose lines are those of the file."""
    with pytest.raises(QueryError) as problem:
        bind("\n" * offset + body)
    return [PREFIX + str(finding) for finding in problem.value.findings]


def split(text: str) -> tuple[list[str], str]:
    lines = text.splitlines()
    header = [line for line in lines if line.startswith(PREFIX)]
    return header, "\n".join(lines[len(header) :]) + "\n"


@pytest.mark.parametrize("path", sorted((GOLDEN / "errors").glob("*.sql")), ids=lambda path: path.stem)
def test_refused_text_has_exactly_these_messages(path: Path) -> None:
    """L1: place, expectation, finding and remedy."""
    header, body = split(path.read_text())
    if REWRITE:
        count = len(refusals(body, 0))
        path.write_text("\n".join(refusals(body, count)) + "\n" + body)
        header, body = split(path.read_text())
    assert header == refusals(body, len(header))


@pytest.mark.parametrize("path", sorted((GOLDEN / "bound").glob("*.sql")), ids=lambda path: path.stem)
def test_bound_text_is_explained_like_this(path: Path) -> None:
    found = explain(bind(path.read_text()))
    beside = path.with_suffix(".txt")
    if REWRITE:
        beside.write_text(found)
    assert found == beside.read_text()
