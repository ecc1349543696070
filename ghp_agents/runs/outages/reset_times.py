"""When a limit ends, in the words of clients: «resets 3:45pm (Europe/Paris)», «try again in 5 days
22 hours», «reset after 2h52m39s», «try again at Sep 27th, 2026 4:59 AM».

A date or a time without a zone is in the machine's zone. What cannot be read is no time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

LONGEST = 32 * 86_400.0  # seconds; a month's quota is the longest limit
_AFTER = re.compile(
    r"(?:reset|retry|try again|wait|regain access|available again|retrydelay)[\w\" ]{0,20}?[:\s]",
    re.IGNORECASE,
)
_WINDOW = 80  # characters after such a word
_EPOCH = re.compile(r"(?:resets?_?at\W{1,4}|\|)(1\d{9}(?:\d{3})?)\b", re.IGNORECASE)
_IN = re.compile(r"resets?_in_seconds\W{1,4}(\d{1,7})", re.IGNORECASE)
_LENGTH = re.compile(
    r"(\d{1,5}(?:\.\d{1,9})?)\s*(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h"
    r"|days?|d|weeks?|w)(?![a-z])",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::\d\d)?(?:\.\d+)?(Z|[+-]\d\d:\d\d)?)?")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")  # month first: Cursor
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = "|".join(_MONTHS)
_MONTH_DAY = re.compile(
    rf"\b({_NAMED})[a-z]*\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE
)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})\s+({_NAMED})[a-z]*\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})[a-z]*\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b|\b(\d{1,2}):(\d\d)\b", re.IGNORECASE)
_ZONE = re.compile(r"\(([A-Za-z_]+(?:/[A-Za-z_+-]+){1,2}|UTC|GMT)\)|\b(UTC|GMT)\b")


def read(text: str, now: float, zone: tzinfo | None = None) -> float | None:
    """The end of a limit in seconds since the epoch, after `now`; None if the text names none.
    `zone` is for times without one, by default the machine's."""
    for match in _EPOCH.finditer(text):
        number = float(match[1])
        if (at := _future(number / 1000 if number > 1e11 else number, now)) is not None:
            return at
    for match in _IN.finditer(text):
        return _future(now + float(match[1]), now)
    for match in _AFTER.finditer(text):
        part = text[match.end() : match.end() + _WINDOW]
        try:
            at = _moment(part, now, zone)
        except (ValueError, OverflowError, OSError):
            continue
        if at is not None:
            return at
    return None


def _future(at: float, now: float) -> float | None:
    """A time that is to come, and not too far away."""
    return min(at, now + LONGEST) if at > now else None


def _moment(part: str, now: float, zone: tzinfo | None) -> float | None:
    """The first length of time, date or time of day in a text. Raises ValueError."""
    length = _length(part)
    if length is not None:
        return _future(now + length, now)
    zone = _zone(part) or zone
    here = datetime.fromtimestamp(now, UTC).astimezone(zone)
    clock = _CLOCK.search(part)
    if iso := _ISO.search(part):
        day = here.replace(year=int(iso[1]), month=int(iso[2]), day=int(iso[3]))
        if iso[4]:
            day = day.replace(hour=int(iso[4]), minute=int(iso[5]), second=0, microsecond=0)
            return _future(day.replace(tzinfo=_offset(iso[6]) or day.tzinfo).timestamp(), now)
        return _future(_at(day, clock).timestamp(), now)
    days = [*_days(part, here)]
    if days:
        moments = (_at(day, clock).timestamp() for day in days)
        return next((at for at in map(lambda at: _future(at, now), moments) if at), None)
    if clock is None:
        return None
    today = _at(here, clock)
    return _future(
        (today if today > here else _at(here + timedelta(days=1), clock)).timestamp(), now
    )


def _length(part: str) -> float | None:
    """`in 5 days 22 hours 11 minutes`, `2h52m39s`, `after 39s`: a length at the beginning."""
    text = re.sub(
        r"^[\s\"':=]*(?:in|after|for|about|wait|=)?[\s\"':]*", "", part, flags=re.IGNORECASE
    )
    total, end = 0.0, 0
    while match := _LENGTH.match(text, end):
        word = match[2].lower()
        unit = word[:2] if word[:2] in ("ms", "mi") and word[:4] != "mill" else word[0]
        total += float(match[1]) * (0.001 if word.startswith("mill") else _UNITS[unit])
        end = match.end()
        gap = re.match(r"(?:\s|,|and\b)*", text[end:])
        end += gap.end() if gap else 0
    return total if end else None


def _days(part: str, here: datetime) -> Iterator[datetime]:
    """The days that a date may mean, the nearest first. Raises ValueError."""
    if date := _SLASHED.search(part):
        yield here.replace(year=int(date[3]), month=int(date[1]), day=int(date[2]))
    elif date := _MONTH_DAY.search(part):
        yield from _of_year(here, date[1], date[2], date[3])
    elif date := _DAY_MONTH.search(part):
        yield from _of_year(here, date[2], date[1], date[3])
    elif date := _WEEKDAY.search(part):
        ahead = (_WEEKDAYS.index(date[1].lower()) - here.weekday()) % 7
        yield from (here + timedelta(days=ahead + more) for more in (0, 7))


def _of_year(here: datetime, month: str, day: str, year: str | None) -> Iterator[datetime]:
    years = [int(year)] if year else [here.year, here.year + 1]
    for number in years:
        yield here.replace(year=number, month=_MONTHS.index(month.lower()) + 1, day=int(day))


def _at(day: datetime, clock: re.Match[str] | None) -> datetime:
    """The time of day on this day; without one its beginning. Raises ValueError."""
    hour = minute = 0
    if clock and clock[1]:
        hour = int(clock[1]) % 12 + (12 if clock[3].lower() == "p" else 0)
        minute = int(clock[2] or 0)
    elif clock:
        hour, minute = int(clock[4]), int(clock[5])
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


def _zone(part: str) -> tzinfo | None:
    match = _ZONE.search(part)
    if match is None or match[2] or match[1] in ("UTC", "GMT"):
        return UTC if match else None
    try:
        return ZoneInfo(match[1])
    except (KeyError, ValueError, OSError):  # this machine has no such zone
        raise ValueError(match[1]) from None


def _offset(text: str | None) -> tzinfo | None:
    return datetime.fromisoformat(f"2000-01-01T00:00:00{text}").tzinfo if text else None
