"""The life of chunks, carried out: the planners decide, these functions act, and acting twice changes nothing.

Each function returns what it did as plain fields for the log and the run's record. A Spark session is asked for only
when there is work for it, so a task with nothing to do ends in a second.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from moirae.adapters.batch.tables import QUARANTINE
from moirae.adapters.delta import files_at, latest_version
from moirae.adapters.spark.deployment import Deployment, load_deployment
from moirae.config import Config
from moirae.engine.placing import line_of
from moirae.errors import ChunkError
from moirae.history import RollLimits, plan_check, plan_compact, plan_demote, plan_roll
from moirae.model.expr import Col
from moirae.model.query import StreamDef
from moirae.ports.catalog import Catalog, Chunk
from moirae.ports.quality import QualityGate

Fields = dict[str, object]


@dataclass(slots=True)
class Lifecycle:
    """`now` is the moment that counts, `stream` narrows the work to one stream."""

    catalog: Catalog
    config: Config
    now: int
    stream: str | None = None
    open_spark: Callable[[], SparkSession] | None = None
    reached: Callable[[str], None] = field(default=lambda point: None)
    _session: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        if self._session is None:
            assert self.open_spark is not None, "this step was started without Spark"
            self._session = self.open_spark()
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()

    def seal(self) -> Fields:
        """Roll the present chunks that are due."""
        deployment = load_deployment(self.catalog)
        sealed = []
        for chunk in self.catalog.chunks(self.stream, ["open"]):
            stream = deployment.streams.get(chunk.stream)
            if plan_roll(chunk, self.now, roll_limits(stream, self.config)):
                self.catalog.roll(chunk.id, chunk.epoch, self.now)
                sealed.append(chunk.id)
        return {"sealed": sealed}

    def check(self, gate: Callable[[], QualityGate]) -> Fields:
        """Judge sealed chunks; rows that fail are put aside with their reason, a chunk with too many is held back."""
        outcome: dict[str, str] = {}
        steps = plan_check(self.catalog.chunks(self.stream))
        judge = gate() if steps else None
        for step in steps:
            assert judge is not None
            chunk = self._chunk(step.chunk_id)
            verdict = judge.judge(self._read(chunk), chunk)
            share = verdict.bad_rows / max(chunk.rows, 1)
            passed = verdict.suite_passed and share <= self.config.quality.max_bad_share
            if verdict.bad is not None and verdict.bad_rows:
                self._put_aside(verdict.bad, chunk)
            self.reached("checked")
            reason = verdict.reason if not passed or verdict.bad_rows else ""
            self.catalog.record_check(chunk.id, passed, reason, self.now)
            outcome[chunk.id] = "passed" if passed else f"held back: {reason}"
        return {"checked": outcome}

    def compact(self) -> Fields:
        """Rewrite passed chunks, sorted by key and time, as their next generation; readers see the old or the new."""
        deployment = load_deployment(self.catalog)
        done = {}
        for step in plan_compact(self.catalog.chunks(self.stream)):
            chunk = self._chunk(step.chunk_id)
            rows = self._without_bad(self._read(chunk), chunk)
            path = f"{chunk.path.rsplit('/', 1)[0]}/g{chunk.generation + 1}-{secrets.token_hex(4)}"
            ordered = rows.coalesce(1).sortWithinPartitions(*sort_columns(deployment, chunk.stream), "_pos")
            self.reached("compacting")
            self.spark.conf.set("spark.databricks.delta.stats.collect", "true")
            ordered.write.format("delta").mode("errorifexists").save(path)
            self.reached("compacted")
            version = latest_version(path)
            assert version is not None
            count = self._load(path, version).count()
            size = sum(file.size for file in files_at(path, version))
            self.catalog.publish_generation(chunk.id, chunk.generation, path, version, count, size, self.now)
            done[chunk.id] = count
        return {"compacted": done}

    def retier(self) -> Fields:
        """The newest chunks are recent, the others old."""
        deployment = load_deployment(self.catalog)
        moved: dict[str, str] = {}
        by_stream: dict[str, list[Chunk]] = {}
        for chunk in self.catalog.chunks(self.stream):
            by_stream.setdefault(chunk.stream, []).append(chunk)
        for name, chunks in by_stream.items():
            stream = deployment.streams.get(name)
            recent = stream.recent_chunks if stream and stream.recent_chunks is not None else None
            for step in plan_demote(chunks, self.config.history.recent_chunks if recent is None else recent):
                self.catalog.set_tier(step.chunk_id, step.after, self.now)
                moved[step.chunk_id] = step.after
        return {"moved": moved}

    def report(self) -> Fields:
        """How many chunks and rows each stream has, by tier and state."""
        counts: dict[str, dict[str, int]] = {}
        for chunk in self.catalog.chunks(self.stream):
            of_stream = counts.setdefault(chunk.stream, {"rows": 0})
            place = chunk.tier if chunk.state in ("open", "sealed") else chunk.state
            of_stream[place] = of_stream.get(place, 0) + 1
            of_stream["rows"] += chunk.rows
        held = {chunk.id: chunk.check_reason for chunk in self.catalog.chunks(self.stream, ["held"])}
        return {"streams": counts} | ({"held": held} if held else {})

    def _chunk(self, chunk_id: str) -> Chunk:
        for chunk in self.catalog.chunks(chunk_id.split("/", maxsplit=1)[0]):
            if chunk.id == chunk_id:
                return chunk
        raise ChunkError(chunk_id, "is not in the catalog", "run the lifecycle again")

    def _read(self, chunk: Chunk) -> DataFrame:
        return self._load(chunk.path, chunk.delta_version or 0)

    def _load(self, table: str, version: int) -> DataFrame:
        """By its list of files, which takes Spark a third of the time of reading the table's log itself."""
        return self.spark.read.parquet(*(f"{table}/{file.path}" for file in files_at(table, version)))

    def _aside(self, chunk: Chunk) -> str:
        return f"{self.config.store.place}/rejected/{chunk.id}"

    def _put_aside(self, bad: DataFrame, chunk: Chunk) -> None:
        """Bad rows with their reasons, in the quarantine's form; a second try writes the same folder anew."""
        own = [name for name in bad.columns if not name.startswith("_")]
        rows = bad.select(
            F.lit(chunk.stream).alias("stream"),
            F.col("_file").alias("file"),
            line_of(F.col("_pos")).alias("line"),
            F.to_json(F.struct(*own)).alias("text"),
            F.col("_reason").alias("reason"),
            F.lit(-1).cast("bigint").alias("batch_id"),
            F.col("_pos"),
        )
        assert rows.columns[:-1] == QUARANTINE.names
        rows.coalesce(1).write.format("delta").mode("overwrite").save(self._aside(chunk))

    def _without_bad(self, rows: DataFrame, chunk: Chunk) -> DataFrame:
        version = latest_version(self._aside(chunk))
        if version is None:
            return rows
        bad = self._load(self._aside(chunk), version).select("_pos")
        return rows.join(bad, "_pos", "left_anti").select(rows.columns)


def roll_limits(stream: StreamDef | None, config: Config) -> RollLimits:
    """The stream's own limits, else the administrator's."""
    size = stream.chunk_size if stream else None
    age = stream.chunk_age_us if stream else None
    return RollLimits(size or config.history.chunk_size, age or config.history.chunk_age)


def sort_columns(deployment: Deployment, stream_name: str) -> list[str]:
    """The column queries partition this stream by, if it is a plain one, then time: recalls ask by both."""
    stream = deployment.streams.get(stream_name)
    time = [stream.time] if stream else []
    for operator in deployment.program.operators:
        if operator.stream.name == stream_name and operator.keys and isinstance(operator.keys[0].expr, Col):
            return [operator.keys[0].expr.name, *time]
    return time
