"""The compiled walk over JSON lines: what it must take, what it must not, and that it never takes anything wrongly."""

from __future__ import annotations

import json
from random import Random

import pytest
from tests.oracles.landing_files import STREAM
from tests.unit.ingest.mutants import mutants, taken_alike

from moirae.ingest.json_lines import JsonLines
from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

AT = '"at":"2026-07-06T00:00:01.577732Z"'
WHOLE = (
    f'{{{AT},"server":"s1","bytes":-12,"code":7,"speed":-0.5e-3,"up":true,"seen":"2026-07-06 01:00+0200"}}',
    f' {{ "UP" : false ,\t"Server" : null, {AT} , "speed" : -0 }}\r',
    f'{{{AT},"server":"a\\n\\"\\\\\\/\\b\\f\\r\\t \\u00e9\\u20AC\\uD83D\\ude00 \u00e9\u20ac\U0001f600"}}',
    f'{{"tags":["a",{{"b":[],"c":{{}}}},[[1.5e300,null]],true],"more":{{"at":{{"at":"\\u0041"}}}},{AT}}}',
    f'{{"extra":123456789012345678901234567890,"x y":"","\u00fcn":false,"server":"\\u0000",{AT}}}',
)
READER = JsonLines(STREAM)


def nested(levels: int) -> str:
    return f'{{{AT},"extra":{"[" * levels}{"]" * levels}}}'


@pytest.mark.parametrize("line", [*WHOLE, nested(64), f'{{{AT},"bytes":-0,"code":0,"speed":0}}'])
def test_what_programs_write_needs_no_step_in_python(line: str) -> None:
    """P2: any order and case of keys, unknown ones, nested ones, escapes and nulls."""
    assert taken_alike(READER, [line.encode()] * 3) == 3


@pytest.mark.parametrize(
    "line",
    [
        f'{{{AT},"up":true,"UP":true}}',
        f'{{{AT},"up":null,"up":true}}',
        f'{{{AT},"serv\\u0065r":"x"}}',
        f'{{{AT},"\u212aey":"x"}}',
        f'{{{AT},"server":"\\ud83d"}}',
        f'{{{AT},"server":"\\ud83d\\ud83d\\ude00"}}',
        f'{{{AT},"server":"\\ude00"}}',
        f'{{{AT},"bytes":1234567890123456789}}',
        f'{{{AT},"speed":1e308}}',
        f'{{{AT},"server":["x"]}}',
        nested(65),
        '{"server":"s1"}',
        "{}",
        " ",
        f"{{{AT}}}{{}}",
        f"{{{AT},}}",
        f'{{{AT},"extra":[1,]}}',
        f'{{{AT},"extra":{{"a":1,}}}}',
        f'{{{AT},"extra":[1}}}}',
        f'{{{AT},"extra":01}}',
    ],
)
def test_what_is_odd_is_left_to_the_careful_way(line: str) -> None:
    """P4: reasons come from one place."""
    assert taken_alike(READER, [line.encode()]) == 0


def test_spoilt_lines_are_taken_with_the_careful_values_or_not_at_all() -> None:
    """P4: which way a line goes changes no answer."""
    lines = mutants([line.encode() for line in WHOLE], 4000, Random(7))
    assert 400 < taken_alike(READER, lines) < 3000


def test_no_letter_in_a_key_makes_it_known_to_one_way_only() -> None:
    """P4: lower case is Python's, for all of Unicode."""
    stream = StreamDef("s", Schema.of(k=Type.INT, s=Type.INT, **{"\u00df": Type.INT, "\u00e5": Type.INT}), "")
    plain = StreamDef("s", Schema.of(k=Type.INT, s=Type.INT), "")
    letters = [chr(code) for code in range(32, 0x20000) if chr(code) not in '"\\' and not 0xD800 <= code < 0xE000]
    lines = [json.dumps({letter: 1}, ensure_ascii=False).encode() for letter in letters]
    assert taken_alike(JsonLines(plain), lines) > 0.9 * len(lines)
    assert taken_alike(JsonLines(stream), lines) > 90


def test_a_log_with_escapes_in_every_line_stays_quick() -> None:
    """P2: messages are quoted and cut into lines."""
    line = {"level": "info", "AT": "2026-07-06T00:00:01Z", "server": 'says "no"\n\u00e9 \U0001f600', "ctx": {"a": [1]}}
    assert taken_alike(READER, [json.dumps(line).encode()] * 50) == 50
