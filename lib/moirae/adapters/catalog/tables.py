"""The tables of the catalog, as the newest migration leaves them; a test compares the two.

What must never be is forbidden here as far as SQL can say it: two open chunks of a stream, two active versions of a
name, a state outside its list. Names sort by bytes on every database, so listings come in one order everywhere.
"""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from moirae.ports.catalog import CheckResult, ChunkState, RevisionOp, StatementKind, TaskState, Tier

NAMES = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s"}
NAMES |= {"ck": "ck_%(table_name)s_%(constraint_name)s", "pk": "pk_%(table_name)s", "fk": "fk_%(table_name)s"}
metadata = MetaData(naming_convention=NAMES)

_NAME = Text().with_variant(Text(collation="C"), "postgresql")
_SERIAL = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only an INTEGER PRIMARY KEY


def _name(column: str, **options: Any) -> Column[str]:
    return Column(column, _NAME, nullable=False, **options)


def _int(column: str, **options: Any) -> Column[int]:
    return Column(column, BigInteger, **{"nullable": False, **options})


def _words(column: str, words: Any) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in get_args(words))
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _unique_where(name: str, column: str, condition: str) -> Index:
    where = text(condition)
    return Index(name, column, unique=True, sqlite_where=where, postgresql_where=where)


statements = Table(
    "statements",
    metadata,
    Column("id", _SERIAL, primary_key=True),  # deploy order
    _name("kind"),
    _name("name"),
    _int("version"),
    Column("text", Text, nullable=False),
    _name("fingerprint"),
    Column("reads", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    _int("deployed_at"),
    _int("dropped_at", nullable=True),
    UniqueConstraint("name", "version"),
    _words("kind", StatementKind),
    _unique_where("uq_statements_active", "name", "active"),
)

# One row a counter. The row of "program" is also what deploying processes lock.
counters = Table("counters", metadata, _name("name", primary_key=True), _int("value"))

chunks = Table(
    "chunks",
    metadata,
    _name("id", primary_key=True),
    _name("stream"),
    _int("sequence"),
    _int("epoch"),
    _name("state"),
    _name("tier"),
    _int("generation"),
    Column("path", Text, nullable=False),
    _int("delta_version", nullable=True),
    _int("min_at", nullable=True),
    _int("max_at", nullable=True),
    _int("rows"),
    _int("bytes"),
    _int("opened_at"),
    _int("sealed_at", nullable=True),
    _int("tiered_at", nullable=True),
    _int("checked_at", nullable=True),
    _name("check_result"),
    Column("check_reason", Text, nullable=False),
    UniqueConstraint("stream", "sequence"),
    _words("state", ChunkState),
    _words("tier", Tier),
    _words("check_result", CheckResult),
    _unique_where("uq_chunks_open", "stream", "state = 'open'"),
)

retired = Table("retired", metadata, _name("path", primary_key=True), _int("retired_at"))

# One row a job: the last batch. It is what two runs of one job lock.
batches = Table(
    "batches",
    metadata,
    _name("job", primary_key=True),
    _int("batch_id"),
    _int("committed_at"),
    Column("watermarks", Text, nullable=False),
    Column("positions", Text, nullable=False),
)

totals = Table(
    "totals",
    metadata,
    _name("stream", primary_key=True),
    _int("landed"),
    _int("archived"),
    _int("late"),
    _int("quarantined"),
)

files = Table(
    "files",
    metadata,
    _name("sha256", primary_key=True),
    Column("path", Text, nullable=False),
    _name("stream"),
    _int("rows"),
)

events = Table(
    "events",
    metadata,
    _name("eid", primary_key=True),
    _name("query"),
    _int("version"),
    _int("at"),
    Column("columns", Text, nullable=False),
    _int("batch_id"),
    _int("seen_at"),
    Index(None, "at"),
    Index(None, "query", "at"),
    Index(None, "seen_at"),
)

tasks = Table(
    "tasks",
    metadata,
    _name("eid", primary_key=True),
    _name("recall", primary_key=True),
    _int("recall_version", primary_key=True),
    _int("event_at"),
    _name("state"),
    _int("turns_done"),
    _int("covered_from", nullable=True),
    _int("covered_to", nullable=True),
    Column("partial", LargeBinary),
    _int("tickets"),
    _int("created_at"),
    _int("updated_at"),
    Column("error", Text, nullable=False),
    _words("state", TaskState),
    Index(None, "state", "event_at"),
)

# `number` counts all revisions in the order of their commits: whoever carries them elsewhere goes on behind the last.
revisions = Table(
    "revisions",
    metadata,
    _int("number"),
    _name("eid", primary_key=True),
    _name("recall", primary_key=True),
    _int("recall_version", primary_key=True),
    _int("seq", primary_key=True),
    _name("op"),
    _int("event_at"),
    _int("covered_from", nullable=True),
    _int("covered_to", nullable=True),
    _int("chunks_done"),
    Column("complete", Boolean, nullable=False),
    Column("answer", Text, nullable=False),
    _int("made_at"),
    ForeignKeyConstraint(
        ["eid", "recall", "recall_version"],
        ["tasks.eid", "tasks.recall", "tasks.recall_version"],
        ondelete="CASCADE",
    ),
    _words("op", RevisionOp),
    UniqueConstraint("number"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", _SERIAL, primary_key=True),
    _name("kind"),
    _name("name"),
    _name("status"),
    Column("fields", Text, nullable=False),
    _int("started_at"),
    _int("finished_at", nullable=True),
)

beats = Table(
    "beats",
    metadata,
    _name("process", primary_key=True),
    _int("pid"),
    _name("state"),
    Column("fields", Text, nullable=False),
    _int("beat_at"),
)
