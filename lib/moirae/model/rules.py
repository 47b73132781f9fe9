"""Type rules: from the types written to the types computed with, and the type of the result.

A rule never changes the meaning of a value in silence: numbers are promoted INT -> BIGINT -> DOUBLE, a bare NULL takes
any type, a STRING beside a TIMESTAMP is read as a time. Everything else needs a CAST, and the refusal says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from moirae.model.schema import Type

Signature = tuple[tuple[Type, ...], Type]  # types the arguments are cast to, type of the result
Rule = Callable[[Sequence[Type]], Signature]

_WIDTH = {Type.INT: 0, Type.BIGINT: 1, Type.DOUBLE: 2}


class MismatchError(ValueError):
    """Arguments a function cannot take: the fields of a finding, without its place."""

    def __init__(self, expected: str, found: str, remedy: str) -> None:
        self.expected, self.found, self.remedy = expected, found, remedy
        super().__init__(f"expected {expected}, but found {found}; {remedy}")


def names(types: Sequence[Type]) -> str:
    """
    >>> names([Type.INT, Type.STRING, Type.NULL])
    'INT, STRING and NULL'
    """
    words = ["NULL" if type_ is Type.NULL else type_.value for type_ in types]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def common(types: Sequence[Type]) -> Type | None:
    """The one type all values can take, or None.

    >>> common([Type.INT, Type.NULL, Type.DOUBLE]), common([Type.STRING, Type.INT])
    (<Type.DOUBLE: 'DOUBLE'>, None)
    """
    known = [type_ for type_ in types if type_ is not Type.NULL]
    if not known:
        return Type.NULL
    if all(type_.numeric for type_ in known):
        return max(known, key=_WIDTH.__getitem__)
    return known[0] if len(set(known)) == 1 else None


def fixed(result: Type, *arguments: Type, optional: int = 0) -> Rule:
    """A function of these argument types; the last `optional` may be left out. INT fits BIGINT and DOUBLE."""

    def rule(types: Sequence[Type]) -> Signature:
        least = len(arguments) - optional
        if not least <= len(types) <= len(arguments):
            raise _count(f"{least}" if not optional else f"{least} to {len(arguments)}", len(types))
        wanted = arguments[: len(types)]
        if not all(_fits(have, want) for have, want in zip(types, wanted, strict=True)):
            raise MismatchError(
                f"arguments of type {names(wanted)}", names(types), "use CAST(… AS …) to say what is meant"
            )
        return wanted, result

    return rule


def _fits(have: Type, want: Type) -> bool:
    return have in (want, Type.NULL) or (have.numeric and want.numeric and _WIDTH[have] <= _WIDTH[want])


def _count(expected: str, found: int) -> MismatchError:
    noun = "argument" if expected == "1" else "arguments"
    return MismatchError(f"{expected} {noun}", str(found), "check the function's arguments")


def arithmetic(types: Sequence[Type]) -> Signature:
    """Numbers, promoted."""
    shared = common(types)
    if shared is Type.NULL:
        shared = Type.DOUBLE
    if shared is None or not shared.numeric:
        raise MismatchError("numbers", names(types), "use CAST(… AS DOUBLE) if the values are numbers")
    return (shared,) * len(types), shared


def plus(types: Sequence[Type]) -> Signature:
    """Numbers, or a time or an interval and an interval."""
    if Type.TIMESTAMP in types:
        other = types[1 - list(types).index(Type.TIMESTAMP)]
        if other in (Type.INTERVAL, Type.NULL):
            return tuple(t if t is Type.TIMESTAMP else Type.INTERVAL for t in types), Type.TIMESTAMP
        raise MismatchError("TIMESTAMP and INTERVAL", names(types), "write an interval such as INTERVAL 10 MINUTES")
    return _intervals(types) or arithmetic(types)


def minus(types: Sequence[Type]) -> Signature:
    """Numbers, times (giving an interval), or a time or an interval less an interval."""
    if types[0] is Type.TIMESTAMP and types[1] is Type.TIMESTAMP:
        return (Type.TIMESTAMP, Type.TIMESTAMP), Type.INTERVAL
    if types[0] is Type.NULL and types[1] is Type.TIMESTAMP:
        return (Type.TIMESTAMP, Type.TIMESTAMP), Type.INTERVAL
    if types[0] is not Type.TIMESTAMP and types[1] is Type.TIMESTAMP:
        raise MismatchError("TIMESTAMP and TIMESTAMP", names(types), "a time can only be taken from a time")
    return plus(types)


def _intervals(types: Sequence[Type]) -> Signature | None:
    if common(types) is Type.INTERVAL:
        return (Type.INTERVAL,) * len(types), Type.INTERVAL
    return None


def signed(types: Sequence[Type]) -> Signature:
    """One number or interval, its type kept."""
    if len(types) != 1:
        raise _count("1", len(types))
    return _intervals(types) or arithmetic(types)


def one_number(types: Sequence[Type]) -> Signature:
    """One number, its type kept."""
    if len(types) != 1:
        raise _count("1", len(types))
    return arithmetic(types)


def divide(types: Sequence[Type]) -> Signature:
    """Numbers; the quotient is a DOUBLE."""
    arithmetic(types)
    return (Type.DOUBLE,) * len(types), Type.DOUBLE


def divide_whole(types: Sequence[Type]) -> Signature:
    """Integers; the quotient is a BIGINT."""
    shared = arithmetic(types)[1]
    if shared is Type.DOUBLE and Type.DOUBLE in types:
        raise MismatchError("integers", names(types), "use / for numbers with fractions")
    return (Type.BIGINT,) * len(types), Type.BIGINT


def whole(types: Sequence[Type]) -> Signature:
    """floor and ceil: BIGINT from any number."""
    if len(types) != 1:
        raise _count("1", len(types))
    shared = arithmetic(types)[1]
    return (Type.BIGINT if shared is Type.INT else shared,), Type.BIGINT


def rounded(types: Sequence[Type]) -> Signature:
    """A number and how many decimals; the type is kept."""
    if not 1 <= len(types) <= 2:
        raise _count("1 to 2", len(types))
    (number,), result = arithmetic(types[:1])
    if any(type_ not in (Type.INT, Type.NULL) for type_ in types[1:]):
        raise MismatchError("a whole number of decimals", names(types[1:]), "write round(x, 2)")
    return (number, Type.INT)[: len(types)], result


def compared(types: Sequence[Type]) -> Signature:
    """Values that can be ordered against each other."""
    if set(types) == {Type.TIMESTAMP, Type.STRING} or set(types) == {Type.TIMESTAMP, Type.STRING, Type.NULL}:
        return (Type.TIMESTAMP,) * len(types), Type.BOOLEAN
    shared = common(types)
    if shared is None:
        raise MismatchError("values of one type", names(types), _compare_remedy(types))
    shared = Type.BOOLEAN if shared is Type.NULL else shared
    return (shared,) * len(types), Type.BOOLEAN


def _compare_remedy(types: Sequence[Type]) -> str:
    if Type.STRING in types and any(type_.numeric for type_ in types):
        return "quote the number to compare texts, or use CAST(… AS DOUBLE) to compare numbers"
    return "use CAST(… AS …) to bring both to one type"


def logical(types: Sequence[Type]) -> Signature:
    """Conditions."""
    if any(type_ not in (Type.BOOLEAN, Type.NULL) for type_ in types):
        raise MismatchError("conditions (BOOLEAN)", names(types), "compare the value with something, such as x <> 0")
    return (Type.BOOLEAN,) * len(types), Type.BOOLEAN


def anything(types: Sequence[Type]) -> Signature:
    """IS NULL: any one value."""
    return tuple(types), Type.BOOLEAN


def alike(least: int) -> Rule:
    """At least so many values of one type, giving that type."""

    def rule(types: Sequence[Type]) -> Signature:
        if len(types) < least:
            raise _count(f"{least} or more", len(types))
        shared = common(types)
        if shared is None:
            raise MismatchError("values of one type", names(types), "use CAST(… AS …) to bring all to one type")
        return (shared,) * len(types), shared

    return rule


def cases(types: Sequence[Type]) -> Signature:
    """condition, value, condition, value, …, else: the conditions BOOLEAN, the values of one type."""
    conditions, _ = logical(types[0:-1:2])
    _, result = alike(1)([*types[1:-1:2], types[-1]])
    pairs = tuple(type_ for condition in conditions for type_ in (condition, result))
    return (*pairs, result), result


def texts(types: Sequence[Type]) -> Signature:
    """concat: everything becomes text."""
    if not types:
        raise _count("1 or more", 0)
    if Type.INTERVAL in types:
        raise MismatchError("values that can be written as text", names(types), "leave the interval out")
    return (Type.STRING,) * len(types), Type.STRING


CASTS: dict[Type, tuple[Type, ...]] = {
    Type.BOOLEAN: (Type.INT, Type.BIGINT, Type.DOUBLE, Type.STRING),
    Type.INT: (Type.BOOLEAN, Type.BIGINT, Type.DOUBLE, Type.STRING, Type.TIMESTAMP),
    Type.BIGINT: (Type.BOOLEAN, Type.INT, Type.DOUBLE, Type.STRING, Type.TIMESTAMP),
    Type.DOUBLE: (Type.BOOLEAN, Type.INT, Type.BIGINT, Type.STRING, Type.TIMESTAMP),
    Type.STRING: (Type.BOOLEAN, Type.INT, Type.BIGINT, Type.DOUBLE, Type.TIMESTAMP),
    Type.TIMESTAMP: (Type.INT, Type.BIGINT, Type.DOUBLE, Type.STRING),
    Type.INTERVAL: (),
    Type.NULL: tuple(type_ for type_ in Type if type_ is not Type.NULL),
}


def check_cast(have: Type, want: Type) -> None:
    """Refuse casts that mean nothing."""
    if have is not want and want not in CASTS[have]:
        allowed = names(CASTS[have]).replace(" and ", " or ") or "nothing"
        raise MismatchError(
            f"a value that can become {want.value}", names([have]), f"{have.value} can become {allowed}"
        )
