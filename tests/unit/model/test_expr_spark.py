"""The same text over the same rows, here and in Spark SQL: equal values, equal types."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from moirae.lang import bind
from moirae.model.evaluate import evaluate
from moirae.model.expr import Expr
from moirae.model.schema import Schema, Type
from moirae.model.show import show

pytestmark = pytest.mark.spark

SCHEMA = Schema.of(
    n=Type.INT,
    i=Type.INT,
    b=Type.BIGINT,
    d=Type.DOUBLE,
    s=Type.STRING,
    t=Type.STRING,
    p=Type.BOOLEAN,
    at=Type.TIMESTAMP,
)
ROWS: list[tuple[Any, ...]] = [
    (0, 1, 10, 2.5, "web01", "2026-01-31 08:00:00", True, 1_767_225_600_000_000),
    (1, -7, 0, -2.675, " Été ", "2026-1-3T4:05:06.789+02:00", False, 1_767_225_599_999_999),
    (2, 2**31 - 1, 2**63 - 1, 0.0, "12.9", "2026-02-30", True, -1),
    (3, -(2**31), -(2**63), math.nan, "-3", "1999", False, 951_782_400_000_000),
    (4, None, None, None, None, None, None, None),
    (5, 25, 3, math.inf, "true", " 1e3 ", None, 1_709_164_800_250_000),
    (6, 0, -1, 1e-5, "a%b_c\\", "9223372036854775808", True, 0),
    (7, 15, 7, 123456789.125, "", "nan", False, 1_700_000_000_000_000),
    (8, -25, 100, -0.5, "x\ny", "2026-07-04 00:00", None, 4_102_444_800_000_000),
]
EXPRESSIONS = """
i + 1 | i - b | i * i | b * 3 | -i | -b | i / b | i / 0 | d / 0 | i % 4 | b % i | i % 0 | d % 2 | i div 4 | b div i
i = b | i <> 1 | i != 1 | d > 0 | d >= i | d = d | d <=> d | i <=> NULL | d < CAST('NaN' AS DOUBLE) | s < 'web'
at > '2026-01-01' | p AND i > 0 | p OR i > 0 | NOT p | p AND NULL | p OR NULL | i IS NULL | i IS NOT NULL
NOT (i > 0 AND p) | i BETWEEN -10 AND 20 | i NOT BETWEEN 0 AND 5 | i IN (1, 25, NULL) | i NOT IN (1, 25)
s IN ('web01', '') | d IN (2.5D, 0D) | s LIKE 'web%' | s LIKE '%_c%' | s NOT LIKE 'w%' | s LIKE 'x_y'
s LIKE 'a\\\\%b%' | CASE WHEN i > 0 THEN 'up' WHEN i < 0 THEN 'down' END | CASE i WHEN 1 THEN b ELSE i END
if(p, i, b) | coalesce(i, b, 0) | nullif(i, 1) | nvl(d, 0) | greatest(i, b, 3) | least(d, i) | greatest(d, 0D)
CAST(s AS INT) | CAST(s AS DOUBLE) | CAST(t AS DOUBLE) | CAST(t AS BIGINT) | CAST(s AS BOOLEAN)
CAST(t AS TIMESTAMP) | CAST(d AS INT) | CAST(d AS BIGINT) | CAST(b AS INT) | CAST(i AS BOOLEAN) | CAST(p AS INT)
b::double | CAST(at AS BIGINT) | CAST(at AS DOUBLE) | CAST(i AS TIMESTAMP) | CAST(at AS STRING) | CAST(d AS STRING)
CAST(p AS STRING) | CAST(b AS STRING) | abs(i) | abs(d) | round(d) | round(d, 2) | round(i, -1) | round(b, -2)
round(d, -1) | floor(d) | ceil(d) | floor(i) | sqrt(d) | power(i, 2) | ln(d) | log10(i) | exp(d) | upper(s)
lower(s) | length(s) | concat(s, '-', i) | s || t | substring(s, 2, 2) | substring(s, -3, 2) | substr(s, 0)
trim(s) | substring(s, -9, 7) | TIMESTAMP '2026-01-01 00:00:00' | at + INTERVAL 10 MINUTES
at - INTERVAL '5' MINUTE | at - TIMESTAMP '2026-01-01 00:00:00' > INTERVAL '1 day' | date_trunc('HOUR', at)
date_trunc('week', at) | date_trunc('month', at) | date_trunc('QUARTER', at) | hour(at) | minute(at) | second(at)
dayofweek(at) | unix_timestamp(at) | year(at) | month(at) | day(at) | at = at + INTERVAL 0 SECONDS | i + 2.5D | 7
'text' | NULL IS NULL
"""


def texts() -> list[str]:
    return [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split(" | ")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").appName("expressions")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
    }
    for key, setting in settings.items():
        builder = builder.config(key, setting)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table() -> pa.Table:
    columns = list(zip(*ROWS, strict=True))
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA.arrow, strict=True)]
    return pa.table(arrays, schema=SCHEMA.arrow)


def bound(text: str) -> Expr:
    result = bind(f"CREATE STREAM rows ({SCHEMA.ddl}) ORDER BY at; SELECT {text} AS x FROM rows").result
    assert result is not None
    return result.select[0].expr


def in_spark(spark: Any, table: pa.Table, texts: list[str]) -> pa.Table:
    micros = table.set_column(7, "at", table["at"].cast(pa.int64()))
    ddl = SCHEMA.ddl.replace("TIMESTAMP", "BIGINT")
    rows = [tuple(row.values()) for row in micros.to_pylist()]
    spark.createDataFrame(rows, ddl).selectExpr(
        *SCHEMA.names[:-1], "timestamp_micros(at) AS at"
    ).createOrReplaceTempView("r")
    columns = ", ".join(f"{text} AS c{position}" for position, text in enumerate(texts))
    return spark.sql(f"SELECT {columns} FROM r ORDER BY n").toArrow()


def plain(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def alike(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-15, abs_tol=0.0)
    return bool(left == right)


def test_every_expression_gives_what_spark_gives(spark: Any, table: pa.Table) -> None:
    """M7: an expression means in our kernels what it means in Spark SQL."""
    expressions = [bound(text) for text in texts()]
    as_written = in_spark(spark, table, texts())
    as_shown = in_spark(spark, table, [show(expr) for expr in expressions])
    wrong = []
    for position, (text, expr) in enumerate(zip(texts(), expressions, strict=True)):
        ours = plain(evaluate(expr, table))
        for reading in (as_written, as_shown):
            theirs = reading.column(position)
            if theirs.type != expr.type.arrow:
                wrong.append(f"{text}: {expr.type.arrow}, Spark {theirs.type}")
            for row, (left, right) in enumerate(zip(ours, plain(theirs), strict=True)):
                if not alike(left, right):
                    wrong.append(f"{text}, row {row}: {left!r}, Spark {right!r}")
    assert not wrong, "\n".join(wrong)
