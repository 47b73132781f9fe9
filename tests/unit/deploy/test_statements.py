"""M9: a pack as the statements the catalog keeps."""

from __future__ import annotations

import pytest

from moirae.deploy import pack_statements
from moirae.errors import DeployError
from moirae.lang import bind

TEXT = """
CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at FROM LANDING 'traffic';
CREATE EVENT busy AS SELECT server, avg(bytes) AS bw FROM traffic GROUP BY server, window(at, '5 minutes');
CREATE STREAM logins (at TIMESTAMP, server STRING) ORDER BY at FROM LANDING 'logins';
CREATE RECALL usual FOR busy e OVER LAST '30 days' REPORT EVERY '2 seconds'
AS SELECT avg(h.bytes) AS mean FROM HISTORY(traffic) h WHERE h.server = e.server;
CREATE TABLE servers (server STRING, rack STRING) FROM 'tables/servers.csv';
"""


def fingerprints(text: str) -> dict[str, str]:
    return {statement.name: statement.fingerprint for statement in pack_statements(bind(text))}


def test_a_statement_comes_after_what_it_reads() -> None:
    """M9: streams and tables, then events, then recalls, in the order of the text within each kind."""
    statements = pack_statements(bind(TEXT))
    assert [(statement.kind, statement.name) for statement in statements] == [
        ("stream", "traffic"),
        ("stream", "logins"),
        ("table", "servers"),
        ("event", "busy"),
        ("recall", "usual"),
    ]
    known: set[str] = set()
    for statement in statements:
        assert set(statement.reads) <= known
        known.add(statement.name)


def test_a_statement_says_what_it_reads() -> None:
    """M9: so that nothing is undeployed while another needs it."""
    reads = {statement.name: statement.reads for statement in pack_statements(bind(TEXT))}
    assert reads == {"traffic": (), "logins": (), "servers": (), "busy": ("traffic",), "usual": ("busy", "traffic")}


def test_each_statement_keeps_its_own_text() -> None:
    """M9: put together again, the texts are the pack."""
    statements = pack_statements(bind(TEXT))
    again = pack_statements(bind("".join(f"{statement.text.rstrip(';')};\n" for statement in statements)))
    assert again == statements


def test_a_fingerprint_is_of_the_meaning() -> None:
    """M9: layout, comments and letter case do not count, so deploying the same again changes nothing."""
    other = TEXT.replace("avg(bytes) AS bw", "-- the mean\n   AVG( Bytes )   as BW").replace("CREATE", "create")
    assert fingerprints(other) == fingerprints(TEXT)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("'5 minutes'", "'6 minutes'", {"busy"}),
        ("avg(bytes) AS bw", "sum(bytes) AS bw", {"busy"}),
        ("'30 days'", "'31 days'", {"usual"}),
        ("FROM LANDING 'traffic'", "FROM LANDING 'net'", {"traffic"}),
        ("rack STRING", "rack INT", {"servers"}),
    ],
)
def test_a_changed_statement_changes_its_own_fingerprint(old: str, new: str, changed: set[str]) -> None:
    """M9: and no other's."""
    before, after = fingerprints(TEXT), fingerprints(TEXT.replace(old, new))
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_bare_select_is_not_deployed() -> None:
    """M9: with what to write instead."""
    with pytest.raises(DeployError, match="write CREATE EVENT name AS SELECT"):
        pack_statements(bind(TEXT + "SELECT server FROM traffic;"))


def test_an_empty_pack_has_no_statements() -> None:
    """M9: which is no error here."""
    assert pack_statements(bind("-- nothing yet")) == []
