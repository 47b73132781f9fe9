"""The catalog: the one transactional truth about statements, chunks, batches, events, recalls and runs.

Files become visible only by a commit here, so a crashed writer leaves garbage and never half a chunk. Every method
is one transaction. All times are int microseconds UTC and come in as arguments; fields named `columns`, `fields` and
`answer` are JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NewType, Protocol

ChunkId = NewType("ChunkId", str)  # "traffic/000007"
Eid = NewType("Eid", str)
RunId = NewType("RunId", int)

StatementKind = Literal["stream", "table", "event", "recall"]
ChunkState = Literal["open", "sealed", "held", "expired"]
Tier = Literal["present", "recent", "old"]
CheckResult = Literal["none", "passed", "failed"]
TaskState = Literal["pending", "running", "complete", "cancelled", "failed"]
RevisionOp = Literal["insert", "update", "delete"]
Outcome = Literal["committed", "already", "rolled"]

UNFINISHED: tuple[TaskState, ...] = ("pending", "running")


# Statements


@dataclass(frozen=True, slots=True)
class NewStatement:
    """A statement to deploy; `reads` names the statements it cannot live without."""

    kind: StatementKind
    name: str
    text: str
    fingerprint: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deployed:
    """One version of a statement; at most one version of a name is active."""

    kind: StatementKind
    name: str
    version: int
    text: str
    fingerprint: str
    reads: tuple[str, ...]
    active: bool
    deployed_at: int
    dropped_at: int | None


class Statements(Protocol):
    def deploy(self, statements: Sequence[NewStatement], now: int) -> list[Deployed]:
        """All or none: unchanged ones keep their version, changed ones get the next, in the order given."""

    def undeploy(self, name: str, now: int) -> Deployed:
        """Refused while an active statement reads `name`."""

    def active(self) -> list[Deployed]:
        """In deploy order, but whatever a statement reads comes before it."""

    def versions(self, name: str) -> list[Deployed]:
        """Every version of a name, the first one first."""

    def program_version(self) -> int:
        """Changes whenever the set of active versions does; cheap enough to poll."""


# Chunks


@dataclass(frozen=True, slots=True)
class Chunk:
    """A folder with one writer for life. Readers use `path` at `delta_version`, nothing newer."""

    id: ChunkId
    stream: str
    sequence: int
    epoch: int
    state: ChunkState
    tier: Tier
    generation: int
    path: str
    delta_version: int | None  # None before the first commit
    min_at: int | None
    max_at: int | None
    rows: int
    bytes: int
    opened_at: int
    sealed_at: int | None
    tiered_at: int | None  # when it came to its tier; None while it is present
    checked_at: int | None
    check_result: CheckResult
    check_reason: str


@dataclass(frozen=True, slots=True)
class Retired:
    """A folder no pointer leads to any more; deleted once no reader can still have it pinned."""

    path: str
    retired_at: int


class Chunks(Protocol):
    def present_chunk(self, stream: str, root: str, now: int) -> Chunk:
        """The stream's open chunk; the first one is opened as `<root>/<stream>/000001/g0`."""

    def roll(self, chunk_id: ChunkId, epoch: int, now: int) -> Chunk:
        """Seal at the recorded version and open the next; the open chunk afterwards, whoever rolled.

        An empty chunk is not rolled, and neither is one that no longer has this epoch.
        """

    def publish_generation(
        self,
        chunk_id: ChunkId,
        expected_generation: int,
        path: str,
        delta_version: int,
        rows: int,
        bytes: int,
        now: int,
    ) -> bool:
        """Swing the pointer to a rewritten folder and retire the old one; False if somebody else was first."""

    def retired(self, before: int) -> list[Retired]:
        """Folders retired before a time, oldest first."""

    def forget_retired(self, path: str) -> None:
        """To be called once the folder is gone."""

    def record_check(self, chunk_id: ChunkId, passed: bool, reason: str, now: int) -> Chunk:
        """A failed chunk is held back, a passed one is sealed and served."""

    def set_tier(self, chunk_id: ChunkId, tier: Tier, now: int) -> Chunk:
        """Move a closed chunk to another tier."""

    def chunks(self, stream: str | None = None, states: Iterable[ChunkState] | None = None) -> list[Chunk]:
        """By stream and sequence."""


# Live events


@dataclass(frozen=True, slots=True)
class LiveEvent:
    eid: Eid
    query: str
    version: int
    at: int
    columns: str
    batch_id: int
    seen_at: int


class Events(Protocol):
    def upsert_events(self, events: Sequence[LiveEvent]) -> None:
        """By eid: an event already known stays exactly as it was first seen.

        Many are written in several transactions, so that a flood keeps no other process waiting.
        """

    def events(self, query: str | None = None, limit: int = 50, since: int | None = None) -> list[LiveEvent]:
        """Newest `at` first; `since` is the earliest `at`."""

    def event(self, eid: str) -> LiveEvent:
        """By eid or by a prefix that only one event has."""

    def prune_events(self, before: int) -> int:
        """Forget events seen before a time, with their finished tasks and answers; how many.

        An event whose history is still being asked stays.
        """

    def event_count(self) -> dict[str, int]:
        """By query."""


# Recall tasks and their answers


@dataclass(frozen=True, slots=True)
class NewTask:
    eid: Eid
    recall: str
    recall_version: int
    event_at: int


@dataclass(frozen=True, slots=True)
class Task:
    """How far the history of one event has been asked by one version of a recall."""

    eid: Eid
    recall: str
    recall_version: int
    event_at: int
    state: TaskState
    turns_done: int
    covered_from: int | None
    covered_to: int | None
    partial: bytes | None  # the merged partial state of the chunks done
    tickets: int
    created_at: int
    updated_at: int
    error: str


@dataclass(frozen=True, slots=True)
class Revision:
    """One step of an answer; `seq` counts from 1 within a task."""

    eid: Eid
    recall: str
    recall_version: int
    seq: int
    op: RevisionOp
    event_at: int
    covered_from: int | None
    covered_to: int | None
    chunks_done: int
    complete: bool
    answer: str
    made_at: int


@dataclass(frozen=True, slots=True)
class TurnSaved:
    """The state of a task after a turn, and what the turn has to say."""

    eid: Eid
    recall: str
    recall_version: int
    state: TaskState
    turns_done: int
    covered_from: int | None
    covered_to: int | None
    partial: bytes | None
    updated_at: int
    error: str = ""
    revisions: tuple[Revision, ...] = ()


class TaskBoard(Protocol):
    def pending_tasks(self, limit: int) -> list[Task]:
        """Tasks that are not finished, newest event first; those a killed process left running are among them."""

    def save_turns(self, turns: Sequence[TurnSaved]) -> int:
        """Tasks and revisions together; a finished task is left as it is. How many turns counted."""

    def revisions(self, eid: Eid, recall: str | None = None) -> list[Revision]:
        """By recall, version and seq."""

    def revisions_after(self, number: int, limit: int) -> list[tuple[int, Revision]]:
        """All revisions in the order they were committed, with their numbers, behind a number.

        None is ever committed below a number that could already be seen.
        """

    def latest_answers(self, eid: Eid) -> list[Revision]:
        """The last revision of each recall's newest version, by recall."""

    def task_counts(self) -> dict[TaskState, int]:
        """Every state, also those no task is in."""


# Batches


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the rows of a stream."""

    landed: int = 0
    archived: int = 0
    late: int = 0
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class Append:
    """Rows a batch has written to a chunk, and the Delta version that holds them."""

    stream: str
    chunk_id: ChunkId
    epoch: int
    delta_version: int
    rows: int
    bytes: int
    min_at: int | None
    max_at: int | None


@dataclass(frozen=True, slots=True)
class LandedFile:
    sha256: str
    path: str
    stream: str
    rows: int


@dataclass(frozen=True, slots=True)
class BatchCommit:
    """All that one micro-batch changes. Streams not named keep their watermark and position."""

    job: str
    batch_id: int
    committed_at: int
    watermarks: Mapping[str, int] = field(default_factory=dict)
    positions: Mapping[str, int] = field(default_factory=dict)  # the next file's ordinal
    counts: Mapping[str, Counts] = field(default_factory=dict)
    appends: Sequence[Append] = ()
    files: Sequence[LandedFile] = ()
    tasks: Sequence[NewTask] = ()


@dataclass(frozen=True, slots=True)
class CommitResult:
    """'already' and 'rolled' changed nothing; 'rolled' names the streams whose chunk is no longer the open one."""

    outcome: Outcome
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """The last batch of a job, with the watermark and position of every stream it ever named."""

    job: str
    batch_id: int
    committed_at: int
    watermarks: Mapping[str, int]
    positions: Mapping[str, int]


class Batches(Protocol):
    def commit_batch(self, batch: BatchCommit) -> CommitResult:
        """Apply a batch once: never twice, never in part, never to a chunk that was rolled meanwhile."""

    def last_batch(self, job: str) -> BatchRecord | None: ...

    def totals(self) -> dict[str, Counts]:
        """By stream, over all batches."""

    def file_seen(self, sha256s: Iterable[str]) -> dict[str, str]:
        """The path under which each known content came first."""


# Runs and processes


@dataclass(frozen=True, slots=True)
class Run:
    id: RunId
    kind: str
    name: str
    status: str  # "running" until finished
    fields: str
    started_at: int
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class Beat:
    """The last sign of life of a process."""

    process: str
    pid: int
    state: str
    fields: str
    beat_at: int


class Runs(Protocol):
    def start_run(self, kind: str, name: str, fields: str, now: int) -> RunId: ...

    def finish_run(self, run_id: RunId, status: str, fields: str, now: int) -> Run:
        """The fields are laid over those given at the start."""

    def runs(self, limit: int) -> list[Run]:
        """Newest first."""

    def beat(self, process: str, pid: int, state: str, fields: str, now: int) -> None: ...

    def beats(self) -> list[Beat]:
        """By process."""


class Catalog(Statements, Chunks, Events, TaskBoard, Batches, Runs, Protocol):
    """Everything, for those that need more than one part."""

    def close(self) -> None: ...
