"""A chunk judged by a Great Expectations suite.

Every chunk must hold the rows the catalog counts, each with a time and a position of its own: else it fails as a whole.
What a stream's rows must look like beyond that stands in `config/quality/<stream>.yaml`; a row that does not is bad.
Bad rows are listed one by one only while they are few: a chunk with too many is held back as it is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from moirae.adapters.quality.rules import Rule, library, load_rules
from moirae.adapters.spark.deployment import load_deployment
from moirae.config import Config
from moirae.model.query import StreamDef
from moirae.ports.catalog import Catalog, Chunk
from moirae.ports.quality import Verdict


@dataclass(frozen=True, slots=True)
class ExpectationsGate:
    """`folder` holds the rules; a share of bad rows above `max_bad_share` holds a chunk back."""

    streams: dict[str, StreamDef]
    folder: Path
    max_bad_share: float

    def judge(self, rows: DataFrame, chunk: Chunk) -> Verdict:
        stream = self.streams[chunk.stream]
        rules = load_rules(self.folder / f"{chunk.stream}.yaml", stream)
        batch = _batch(rows.persist())
        try:
            whole = _validate(batch, _whole_chunk(stream, chunk), "BASIC")
            each = _validate(batch, [rule.expectation() for rule in rules], "BASIC")
            bad = max((int(r.result.get("unexpected_count", chunk.rows)) for r in each.results), default=0)
            reasons = [*_failures(whole), *_failures(each)]
            too_many = bad > self.max_bad_share * max(chunk.rows, 1)
            listed = None if too_many or not bad else _bad_rows(batch, rows, rules)
            count = bad if listed is None else listed.count()
            return Verdict(bool(whole.success), count, "; ".join(reasons), listed)
        finally:
            rows.unpersist()


def expectations_gate(catalog: Catalog, config: Config) -> ExpectationsGate:
    streams = load_deployment(catalog).streams
    return ExpectationsGate(streams, config.quality.folder, config.quality.max_bad_share)


def _batch(rows: DataFrame) -> Any:
    context = library().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_spark("chunk", persist=False)
    definition = source.add_dataframe_asset("rows").add_batch_definition_whole_dataframe("all")
    return definition.get_batch(batch_parameters={"dataframe": rows})


def _whole_chunk(stream: StreamDef, chunk: Chunk) -> list[Any]:
    gxe = library().expectations
    return [
        gxe.ExpectTableRowCountToEqual(value=chunk.rows),
        gxe.ExpectTableColumnsToMatchSet(column_set=[*stream.schema.names, "_pos", "_file"]),
        gxe.ExpectColumnValuesToNotBeNull(column=stream.time),
        gxe.ExpectColumnValuesToBeUnique(column="_pos"),
    ]


def _validate(batch: Any, expectations: list[Any], detail: str) -> Any:
    suite = library().ExpectationSuite(name="chunk", expectations=expectations)
    form = {"result_format": detail, "unexpected_index_column_names": ["_pos"], "partial_unexpected_count": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the suite's own use of what it calls deprecated is not ours to mend
        return batch.validate(suite, result_format=form)


def _failures(result: Any) -> list[str]:
    """What failed, in one phrase each."""
    said = []
    for each in result.results:
        if not each.success:
            config = each.expectation_config
            column = config.kwargs.get("column", "")
            detail = each.result.get("observed_value", "")
            examples = each.result.get("partial_unexpected_list", [])
            found = f"{each.result.get('unexpected_count')} rows, such as {examples}" if examples else f"{detail}"
            error = each.exception_info if not each.result else ""
            said.append(f"{config.type.removeprefix('expect_')} {column}: {found or error}".replace(" :", ":"))
    return said


def _bad_rows(batch: Any, rows: DataFrame, rules: list[Rule]) -> DataFrame:
    """The rows that fail, each with all its reasons."""
    parts = []
    for rule in rules:
        result = _validate(batch, [rule.expectation()], "COMPLETE").results[0]
        positions = [each["_pos"] for each in result.result.get("unexpected_index_list") or []]
        if positions:
            named = [(position, rule.reason) for position in positions]
            parts.append(rows.sparkSession.createDataFrame(named, "_pos bigint, _why string"))
    why = reduce(DataFrame.unionByName, parts).groupBy("_pos")
    reasons = why.agg(F.array_join(F.sort_array(F.collect_set("_why")), "; ").alias("_reason"))
    return rows.join(F.broadcast(reasons), "_pos")
