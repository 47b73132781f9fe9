"""The first schema: statements, chunks, batches, events, recalls, runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("job", _NAME, nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("committed_at", sa.BigInteger(), nullable=False),
        sa.Column("watermarks", sa.Text(), nullable=False),
        sa.Column("positions", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_batches")),
    )
    op.create_table(
        "beats",
        sa.Column("process", _NAME, nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("beat_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_beats")),
    )
    op.create_table(
        "chunks",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("tier", _NAME, nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("delta_version", sa.BigInteger(), nullable=True),
        sa.Column("min_at", sa.BigInteger(), nullable=True),
        sa.Column("max_at", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("sealed_at", sa.BigInteger(), nullable=True),
        sa.Column("tiered_at", sa.BigInteger(), nullable=True),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("check_result", _NAME, nullable=False),
        sa.Column("check_reason", sa.Text(), nullable=False),
        sa.CheckConstraint("check_result IN ('none', 'passed', 'failed')", name=op.f("ck_chunks_check_result")),
        sa.CheckConstraint("state IN ('open', 'sealed', 'held', 'expired')", name=op.f("ck_chunks_state")),
        sa.CheckConstraint("tier IN ('present', 'recent', 'old')", name=op.f("ck_chunks_tier")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("stream", "sequence", name=op.f("uq_chunks_stream_sequence")),
    )
    op.create_index(
        "uq_chunks_open",
        "chunks",
        ["stream"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "counters",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "events",
        sa.Column("eid", _NAME, nullable=False),
        sa.Column("query", _NAME, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("eid", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_at"), "events", ["at"])
    op.create_index(op.f("ix_events_query_at"), "events", ["query", "at"])
    op.create_index(op.f("ix_events_seen_at"), "events", ["seen_at"])
    op.create_table(
        "files",
        sa.Column("sha256", _NAME, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_files")),
    )
    op.create_table(
        "retired",
        sa.Column("path", _NAME, nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_retired")),
    )
    op.create_table(
        "runs",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("status", _NAME, nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_table(
        "statements",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fingerprint", _NAME, nullable=False),
        sa.Column("reads", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("deployed_at", sa.BigInteger(), nullable=False),
        sa.Column("dropped_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('stream', 'table', 'event', 'recall')", name=op.f("ck_statements_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_statements")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_statements_name_version")),
    )
    op.create_index(
        "uq_statements_active",
        "statements",
        ["name"],
        unique=True,
        sqlite_where=sa.text("active"),
        postgresql_where=sa.text("active"),
    )
    op.create_table(
        "tasks",
        sa.Column("eid", _NAME, nullable=False),
        sa.Column("recall", _NAME, nullable=False),
        sa.Column("recall_version", sa.BigInteger(), nullable=False),
        sa.Column("event_at", sa.BigInteger(), nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("turns_done", sa.BigInteger(), nullable=False),
        sa.Column("covered_from", sa.BigInteger(), nullable=True),
        sa.Column("covered_to", sa.BigInteger(), nullable=True),
        sa.Column("partial", sa.LargeBinary(), nullable=True),
        sa.Column("tickets", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('pending', 'running', 'complete', 'cancelled', 'failed')", name=op.f("ck_tasks_state")
        ),
        sa.PrimaryKeyConstraint("eid", "recall", "recall_version", name=op.f("pk_tasks")),
    )
    op.create_index(op.f("ix_tasks_state_event_at"), "tasks", ["state", "event_at"])
    op.create_table(
        "totals",
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("landed", sa.BigInteger(), nullable=False),
        sa.Column("archived", sa.BigInteger(), nullable=False),
        sa.Column("late", sa.BigInteger(), nullable=False),
        sa.Column("quarantined", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("stream", name=op.f("pk_totals")),
    )
    op.create_table(
        "revisions",
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("eid", _NAME, nullable=False),
        sa.Column("recall", _NAME, nullable=False),
        sa.Column("recall_version", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("op", _NAME, nullable=False),
        sa.Column("event_at", sa.BigInteger(), nullable=False),
        sa.Column("covered_from", sa.BigInteger(), nullable=True),
        sa.Column("covered_to", sa.BigInteger(), nullable=True),
        sa.Column("chunks_done", sa.BigInteger(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("op IN ('insert', 'update', 'delete')", name=op.f("ck_revisions_op")),
        sa.ForeignKeyConstraint(
            ["eid", "recall", "recall_version"],
            ["tasks.eid", "tasks.recall", "tasks.recall_version"],
            name=op.f("fk_revisions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("eid", "recall", "recall_version", "seq", name=op.f("pk_revisions")),
        sa.UniqueConstraint("number", name=op.f("uq_revisions_number")),
    )
