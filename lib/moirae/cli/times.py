"""Times as people and scripts read them. Inside they are microseconds, everywhere UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import typer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_1 = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def iso(time_us: int | None) -> str | None:
    """
    >>> iso(1_500_000), iso(None)
    ('1970-01-01T00:00:01.500000Z', None)
    """
    return None if time_us is None else _moment(time_us, "%Y-%m-%dT%H:%M:%S.%fZ")


def show_time(time_us: int | None) -> str:
    """To the second, for lists.

    >>> show_time(1_500_000), show_time(None)
    ('1970-01-01 00:00:01', '-')
    """
    return "-" if time_us is None else _moment(time_us, "%Y-%m-%d %H:%M:%S")


def show_exactly(time_us: int) -> str:
    """
    >>> show_exactly(1_000_000), show_exactly(1_500_000)
    ('1970-01-01 00:00:01 UTC', '1970-01-01 00:00:01.5 UTC')
    """
    text = _moment(time_us, "%Y-%m-%d %H:%M:%S.%f")
    return f"{text.rstrip('0').rstrip('.')} UTC"


def _moment(time_us: int, form: str) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=time_us)
    except OverflowError:
        return f"{time_us} microseconds"
    return moment.strftime(form.replace("%Y", f"{moment.year:04}"))  # %Y alone leaves early years without zeros


def show_age(micros: int | None) -> str:
    """
    >>> [show_age(s * 1_000_000) for s in (0, 59, 61, 7200, 90_000, -5)], show_age(1_500), show_age(None)
    (['0 s', '59 s', '61 s', '2.0 h', '25.0 h', 'in 5 s'], '2 ms', '-')
    """
    if micros is None:
        return "-"
    if micros < 0:
        return f"in {show_age(-micros)}"
    seconds = micros / 1e6
    if 0 < seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def parse_moment(text: str, now: int, option: str) -> int:
    """A time in ISO-8601, or a duration before now.

    >>> parse_moment("1970-01-01T00:00:01Z", 0, "--since"), parse_moment("1 min", 61_000_000, "--since")
    (1000000, 1000000)
    >>> iso(parse_moment("99999999999 days", 0, "--since"))
    '0001-01-01T00:00:00.000000Z'
    """
    from moirae.model.units import parse_duration

    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        try:
            return max(now - parse_duration(text), _YEAR_1)  # no catalog holds what lies before
        except (ValueError, OverflowError):
            problem = f"'{text}' is neither a time nor a duration; write '2026-07-06T12:00:00Z' or '2 hours'"
            raise typer.BadParameter(problem, param_hint=option) from None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def parse_span(text: str, option: str) -> int:
    """Microseconds of a duration that is not nothing."""
    from moirae.model.units import parse_duration

    try:
        span = parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    except OverflowError:
        raise typer.BadParameter("is longer than anything lasts; write a shorter one", param_hint=option) from None
    if not span:
        raise typer.BadParameter(f"'{text}' is no time at all; write a longer one", param_hint=option)
    return span
