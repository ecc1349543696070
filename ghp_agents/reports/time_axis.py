"""The axis of a timeline: ticks at round times of a zone."""

from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from ghp_agents.core.clock import MONTHS, WEEKDAYS

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# seconds
_STEPS = (
    *(1, 5, 15, 30), *(minutes * _MINUTE for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 6, 12)), *(days * _DAY for days in (1, 2, 7, 14, 28)),
)  # fmt: skip
_LAST = 400 * _DAY  # a longer axis has a tick for each part of a year
MOST = 500  # ticks
SHORT = 600  # seconds that are named to the second


class Tick(NamedTuple):
    """A time of the axis, and what is written there."""

    at: float
    text: str


def ticks(since: float, until: float, most: int, zone: tzinfo | None = None) -> list[Tick]:
    """At most `most` ticks between two times; without a zone in the machine's."""
    room = (until - since) / max(1, min(most, MOST))
    step = next((step for step in _STEPS if step >= room), _LAST * (1 + int(room // _LAST)))
    return [Tick(at, _text(at, step, zone)) for at in _times(since, until, step, zone)]


def _times(since: float, until: float, step: int, zone: tzinfo | None) -> Iterator[float]:
    day = _local(since, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if step >= _DAY:
        while (at := day.timestamp()) <= until:
            if at >= since:
                yield at
            day += timedelta(days=step // _DAY)
        return
    first = day.timestamp()
    at = first + step * -((first - since) // step)
    while at <= until:
        yield at
        at += step


def _text(at: float, step: int, zone: tzinfo | None) -> str:
    local = _local(at, zone)
    if step < _MINUTE:
        return f"{local:%H:%M:%S}"
    is_day = step >= _DAY or (local.hour, local.minute) == (0, 0)
    return _day_of(local) if is_day else f"{local:%H:%M}"


def _day_of(local: datetime) -> str:
    """`22 Nov`, in every language of the machine."""
    return f"{local.day} {MONTHS[local.month - 1]}"


def between(since: float, until: float, zone: tzinfo | None = None) -> str:
    """`Sun 22 Nov 2026, 10:00 – 14:00 (UTC)`, or both days, in every language of the machine."""
    first, last = _local(since, zone), _local(until, zone)
    name = last.tzname() or "local time"
    if first.date() == last.date():
        clock = "%H:%M:%S" if until - since < SHORT else "%H:%M"
        return f"{_date(first)} {first.year}, {first:{clock}} – {last:{clock}} ({name})"
    year = "" if first.year == last.year else f" {first.year}"
    start = f"{_date(first)}{year}, {first:%H:%M}"
    return f"{start} – {_date(last)} {last.year}, {last:%H:%M} ({name})"


def briefly(since: float, until: float, zone: tzinfo | None = None) -> str:
    """`22 Nov 10:00–14:00`; only the first day is named."""
    first, last = _local(since, zone), _local(until, zone)
    return f"{_day_of(first)} {first:%H:%M}–{last:%H:%M}"


def _date(local: datetime) -> str:
    return f"{WEEKDAYS[local.weekday()]} {_day_of(local)}"


def _local(at: float, zone: tzinfo | None) -> datetime:
    here = datetime.fromtimestamp(at, zone)
    return here.astimezone() if zone is None else here
