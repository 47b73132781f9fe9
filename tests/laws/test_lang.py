"""Laws of the language: any text is bound or refused with findings; nothing else is ever raised."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from moirae.errors import Finding, QueryError
from moirae.lang import bind
from moirae.model.explain import explain

GOLDEN = Path(__file__).parents[1] / "golden"
SOUP = r"""SELECT FROM WHERE GROUP BY HAVING AS CREATE STREAM TABLE EVENT RECALL FOR OVER LAST ALL REPORT EVERY PAUSE
CHUNKS PATIENCE ORDER LATENESS VALID WITH ( ) , ; . * + - / % = <> < <= <=> AND OR NOT NULL IS IN LIKE BETWEEN
CASE WHEN THEN ELSE END CAST INTERVAL TIMESTAMP 'x' '1' 1 2.5 3L 1e999 traffic at server bytes e h HISTORY
window start count avg DISTINCT :: || => -> [ ] { } : ? @ $ # " ' ` /* */ -- JOIN UNION LATERAL VIEW PIVOT
VALUES EXISTS ANY PARTITION LIMIT MATCH_RECOGNIZE TABLESAMPLE MINUTES é \ IF INT STRING BIGINT UNNEST ARRAY
MAP STRUCT INSERT SET USE BEGIN GRANT"""
WORDS = SOUP.split()
PACKS = [path.read_text() for path in sorted(GOLDEN.glob("*/*.sql"))]
PIECES = [re.findall(r"'[^']*'|\w+|\s+|[^\w\s]", pack) for pack in PACKS]
HEAD = "CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at;\nSELECT "


def read(text: str) -> None:
    findings: tuple[Finding, ...] = ()
    try:
        assert explain(bind(text)) == explain(bind(text))
    except QueryError as problem:
        findings = problem.findings
    lines = text.count("\n") + 1
    assert all(1 <= finding.span.line <= lines and finding.remedy for finding in findings)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*WORDS, "\n", "'5 minutes'"]), max_size=30).map(" ".join), st.booleans())
def test_a_soup_of_words_is_bound_or_refused(soup: str, headed: bool) -> None:
    """L1: no text may crash the language."""
    read(f"{HEAD}{soup} FROM traffic" if headed else soup)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_mutated_pack_is_bound_or_refused(data: st.DataObject) -> None:
    """L1: a slip of the pen is a finding with a place, wherever it is made."""
    pieces = list(data.draw(st.sampled_from(PIECES)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        pieces[place] = data.draw(st.sampled_from(["", *WORDS, *(word + pieces[place] for word in ("(", "- ", "x."))]))
    read("".join(pieces))


@given(st.text(max_size=60))
def test_any_text_is_bound_or_refused(text: str) -> None:
    read(text)
