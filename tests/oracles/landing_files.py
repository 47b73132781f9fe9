"""Landing files as the world writes them: mostly well, sometimes oddly, now and then broken."""

from __future__ import annotations

from hypothesis import strategies as st

from moirae.model.query import StreamDef
from moirae.model.schema import Schema, Type

SCHEMA = Schema.of(
    at=Type.TIMESTAMP,
    server=Type.STRING,
    bytes=Type.BIGINT,
    code=Type.INT,
    speed=Type.DOUBLE,
    up=Type.BOOLEAN,
    seen=Type.TIMESTAMP,
)
STREAM = StreamDef("wide", SCHEMA, "at")
NAMES = list(SCHEMA.names)
Texts = st.SearchStrategy[str]


def words(text: str) -> Texts:
    """One of the words; '_' is a blank inside one."""
    return st.sampled_from([word.replace("_", " ") for word in text.split()])


MOMENTS = words(
    """2026-07-06T00:00:01.577732Z 2026-07-06_00:00:01 2026-07-06T00:00Z 2026-07-06 2026-07-06T01:00:00+02:00
    2026-07-06T01:00:00-0930 2026-07-06T01:00:00.5+18 2026-07-06T01:00:00.123456789Z 2024-02-29T12:00:00Z
    1970-01-01T00:00:00Z 0001-01-01T00:00:00Z 9999-12-31T23:59:59.999999Z 1969-12-31_23:59:59.999999"""
)
NO_MOMENTS = words(
    """2026-02-29T00:00:00Z 2026-13-01 2026-04-31 2026-07-06T24:00:00Z 2026-07-06T00:00:60Z 0000-01-01 yesterday
    2026-07-06T00:00:00+19:00 0001-01-01T00:00:00+01:00 9999-12-31T23:59:59-01:00 2026-7-6 2026-07-06t00:00:00z
    2026-07-06Z 2026-07-06T00 2026-07-06T00:00:00.Z 2026-07-06T00:00:00_Z 1783296001 \u0662\u0660\u0662\u0666-07-06
    0000-12-31T23:00-02:00 2026-07-06T00:00:00.1234567890Z 2026-07-06__00:00:00 _2026-07-06_"""
)
LIMITS = [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**25]
INTEGERS = (st.integers(-1000, 1000) | st.sampled_from(LIMITS)).map(str)
BIGINTS, INTS = st.integers(-(2**63), 2**63 - 1).map(str), st.integers(-(2**31), 2**31 - 1).map(str)
REALS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | words(
    "0.0 -0 -0.0 1e3 1E+05 2.5e-3 1e308 1e-400 0.1 123456789.123456789e20 1e99"
)
ODD_NUMBERS = words(
    "1e309 1e999 -1e999 NaN Infinity -Infinity nan inf 01 007 +7 1. .5 0x10 1__000 \u0661\u0662 - -- 1e 3.0 9e1 --1"
)
TEXTS = st.sampled_from(
    ["s1", "s2", "", " ", "null", "true", "12", "a,b", 'say "x"', "\u00e9\u2028", "\U0001f600", "\x00", "a\tb", "a\rb"]
) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=5)


def quoted(text: str) -> str:
    return f'"{text}"'


def json_text(text: str) -> str:
    """Spelled as JSON, quotes and controls escaped."""
    return quoted("".join(f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 else c for c in text))


ESCAPES = words(r'"\n\t\"\\\/" "\u00e9" "\ud83d\ude00" "\ud83d" "\ude00x" "\q" "\u12" "\u00E9\b\f\r"') | st.just(
    '"\x01"'
)
NESTED = words('null true false [] {} [1,_2] {"at":1,"at":2} [["x"]] {"a":{"b":[]}} {"a":"}"}')
NOT_JSON = words("True [1,] {,} 'x' [ { nul") | st.just("")
JSON_GOOD: dict[Type, Texts] = {
    Type.TIMESTAMP: MOMENTS.map(quoted),
    Type.STRING: TEXTS.map(json_text),
    Type.BIGINT: BIGINTS,
    Type.INT: INTS,
    Type.DOUBLE: REALS | INTEGERS,
    Type.BOOLEAN: words("true false"),
}
JSON_ANY = st.one_of(
    MOMENTS.map(quoted),
    NO_MOMENTS.map(quoted),
    TEXTS.map(json_text),
    ESCAPES,
    INTEGERS,
    REALS,
    ODD_NUMBERS,
    NESTED,
    NOT_JSON,
)
UNKNOWN = TEXTS.map(json_text) | INTEGERS | REALS | NESTED
CSV_GOOD: dict[Type, Texts] = {
    Type.TIMESTAMP: MOMENTS,
    Type.STRING: TEXTS,
    Type.BIGINT: BIGINTS | words("007 +7 -0 __7_"),
    Type.INT: INTS | st.just(""),
    Type.DOUBLE: REALS | INTEGERS | words("1. .5 -.5e1 007.5") | st.just(""),
    Type.BOOLEAN: words("true False TRUE tRuE") | st.just(""),
}
CSV_ANY = st.one_of(MOMENTS, NO_MOMENTS, TEXTS, INTEGERS, REALS, ODD_NUMBERS, words('" "a"b a" _ "" "_1_"'))
BLANKS = st.sampled_from(["", "", "", " ", "\t", "  ", "\r"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \t\r\n", "\r\r\n"])
JUNK = words('[] 1 null "x" {} {,} {"at":1}x \ufeff \x0b \u00a0 _ at,server') | st.just("")
TOO_MUCH = st.sampled_from(["", "", '"', ",", "}", "{", ":", "\\", "\ufeff", "\u00e9", "\x00", "1", "["])
NOT_UTF8 = st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x82"])


def rarely(draw: st.DrawFn, often: int) -> bool:
    return draw(st.sampled_from([False] * often + [True]))


@st.composite
def json_line(draw: st.DrawFn, keys: list[str]) -> str:
    """A line with the file's usual keys, some left out; one value or key may be odd."""
    blank = draw(BLANKS)
    present = [key for key in keys if key == "at" or not rarely(draw, 9)]
    values = {key: draw(JSON_GOOD[SCHEMA[key.lower()]] if key.lower() in SCHEMA else UNKNOWN) for key in present}
    if rarely(draw, 3):
        values[draw(st.sampled_from(present))] = draw(JSON_ANY)
    pairs = [f'"{key}"{blank}:{blank}{value}' for key, value in values.items()]
    if rarely(draw, 5):
        key = draw(st.sampled_from([*NAMES, "AT", "Bytes", "extra", "at ", r"\u0061t", "", "\u043a"]))
        pairs.insert(draw(st.integers(0, len(pairs))), f'"{key}":{draw(JSON_ANY)}')
    return f"{blank}{{{f'{blank},{blank}'.join(pairs)}}}{blank}"


@st.composite
def csv_line(draw: st.DrawFn, names: list[str]) -> str:
    """A record of the file's columns; one field may be odd, or one too many."""
    fields = []
    for name in names:
        text = draw(CSV_GOOD[SCHEMA[name]] if name in SCHEMA else TEXTS)
        fields.append(quoted(text.replace('"', '""')) if rarely(draw, 4) or set(text) & set(',"\r') else text)
    if rarely(draw, 3):
        fields[draw(st.integers(0, len(fields) - 1))] = draw(CSV_ANY)
    return ",".join([*fields, draw(CSV_ANY)] if rarely(draw, 9) else fields)


@st.composite
def perhaps_spoilt(draw: st.DrawFn, line: str) -> str:
    """The line, or some junk instead, or the line cut with a character too many."""
    way = draw(st.sampled_from(["whole"] * 10 + ["junk", "cut"]))
    if way == "whole":
        return line
    return draw(JUNK) if way == "junk" else line[: draw(st.integers(0, len(line)))] + draw(TOO_MUCH)


@st.composite
def content_of(draw: st.DrawFn, line: Texts, heading: str = "") -> bytes:
    lines = draw(st.lists(st.tuples(line.flatmap(perhaps_spoilt), ENDS), max_size=12))
    data = (heading + "".join(text + end for text, end in lines)).encode()
    if rarely(draw, 9):
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(NOT_UTF8) + data[place:]
    bom = b"\xef\xbb\xbf" if rarely(draw, 3) else b""
    return bom + (data if draw(st.booleans()) else data.removesuffix(b"\n"))


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    """A program writes its keys in one order and case."""
    others = [name for name in NAMES if name != "at"]
    keys = draw(st.lists(st.sampled_from([*others, "extra", "Speed2", "x y", "\u00fcn"]), unique=True, max_size=6))
    spelled = [key.upper() if key in SCHEMA and rarely(draw, 5) else key for key in keys]
    spelled.insert(draw(st.integers(0, len(spelled))), "at")
    return draw(content_of(json_line(spelled)))


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """The time is in the header, but for a few."""
    names = draw(st.lists(st.sampled_from([*NAMES, "extra", ""]), unique=True, min_size=1, max_size=7))
    if "at" not in names and not rarely(draw, 9):
        names.insert(draw(st.integers(0, len(names))), "at")
    heading = ",".join(draw(st.sampled_from([name, name.upper(), quoted(name), f" {name} "])) for name in names)
    return draw(content_of(csv_line(names), draw(st.sampled_from(["", "\n \r\n"])) + heading + draw(ENDS)))
