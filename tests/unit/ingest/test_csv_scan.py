"""The compiled walk over CSV: what it must take, what it must not, and that it never takes anything wrongly."""

from __future__ import annotations

from random import Random

import pytest
from tests.oracles.landing_files import STREAM
from tests.unit.ingest.mutants import mutants, taken_alike

from moirae.ingest.csv_rows import CsvRows
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

READER = CsvRows.below("at,server,extra,bytes,code,speed,up,seen", STREAM)
WHOLE = (
    "2026-07-06T00:00:01.577732Z,s1,x,-12,007,-0.5e-3,true,2026-07-06 01:00+0200",
    '"2026-07-06","say ""x"", \u00e9\r\x00","""","12","7","1.5","TRUE",""\r',
    " 2026-07-06\t, s1 ,,,,,, \t",
    '2026-07-06,"",,-0,,-0,fALSE,"2026-07-06 "',
)


@pytest.mark.parametrize("line", WHOLE)
def test_what_programs_write_needs_no_step_in_python(line: str) -> None:
    """P2: quotes, doubled ones, blanks around values, empty fields."""
    assert taken_alike(READER, [line.encode()] * 3) == 3


@pytest.mark.parametrize(
    "line",
    [
        ",s1,,,,,,",
        "2026-07-06,s1,,,,,",
        "2026-07-06,s1,,,,,,,",
        '2026-07-06,s"1,,,,,,',
        '2026-07-06,"s1,,,,,,',
        '2026-07-06,"s1"x,,,,,,',
        "2026-07-06,s1,,1234567890123456789,,,,",
        "2026-07-06,s1,,,,1e308,,",
        '2026-07-06,s1,,"1""",,,,',
        "2026-07-06,s1,,,,,yes,",
    ],
)
def test_what_is_odd_is_left_to_the_careful_way(line: str) -> None:
    """P4: reasons come from one place."""
    assert taken_alike(READER, [line.encode()]) == 0


def test_spoilt_records_are_taken_with_the_careful_values_or_not_at_all() -> None:
    """P4: which way a record goes changes no answer."""
    lines = mutants([line.encode() for line in WHOLE], 4000, Random(7))
    assert 400 < taken_alike(READER, lines) < 3000


def test_a_blank_line_is_no_record_of_one_field() -> None:
    """P4: the careful way never sees one."""
    reader = CsvRows.below("name", StreamDef("s", Schema.of(name=Type.STRING), ""))
    assert taken_alike(reader, [b"a", b"", b" ", b"\t\r", b"\r \r", b'""', b"b"]) == 3
