"""Time: seconds since the epoch inside, ISO 8601 UTC with `Z` in every record."""

import time
from collections.abc import Iterator

from ghp_agents.core import moment as moments
from ghp_agents.hotpath import boot_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

# What `moment` reads, for help and errors.
FORMS = (
    "2026-01-25T10:30:00Z, 2026-01-25, 14:30, 90s, '2h ago', '3 days ago', today, yesterday (0:00) "
    "or 'last night' (22:00)"
)
_DAYS = {"today": (0, 0), "yesterday": (1, 0), "last night": (1, 22)}  # days back, and the hour


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def interval(self) -> tuple[str, float]:
        """An id of the machine's boot, and the seconds since then."""
        return boot_clock.read()

    def wait(self, seconds: float) -> None:
        """Let `seconds` pass."""
        moments.end()
        boot_clock.wait(seconds)


def to_text(seconds: float) -> str:
    """`1737801000.0` becomes `2025-01-25T10:30:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def to_seconds(text: str) -> float:
    """Read an ISO 8601 time, with `Z`, an offset, or none (then UTC). Raises ValueError."""
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def for_people(text: str) -> str:
    """`2026-11-22T10:24:10Z` becomes `22 Nov 2026, 10:24 UTC`, in every language of the machine;
    `an unknown time` if it cannot be read."""
    try:
        at = time.gmtime(to_seconds(text))
    except (ValueError, OverflowError, OSError):
        return "an unknown time"
    month = MONTHS[at.tm_mon - 1]
    return f"{at.tm_mday} {month} {at.tm_year}, {at.tm_hour:02}:{at.tm_min:02} UTC"


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def local_day(seconds: float) -> str:
    """`Sun 22 Nov 2026` in the machine's zone, in every language of the machine. Raises
    OverflowError, OSError or ValueError."""
    at = time.localtime(seconds)
    month = MONTHS[at.tm_mon - 1]
    return f"{WEEKDAYS[at.tm_wday]} {at.tm_mday} {month} {at.tm_year}"


_UNITS = {
    name: seconds
    for seconds, names in {
        1: "s sec second seconds",
        60: "m min minute minutes",
        3_600: "h hour hours",
        86_400: "d day days",
        604_800: "w week weeks",
    }.items()
    for name in names.split()
}


def duration(text: str) -> float:
    """A length of time that a person typed, in seconds: `90s`, `10m`, `2h`, `3d`, `1w`.

    Raises ValueError.
    """
    words = text.strip().lower()
    number = words.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = words[len(number) :].strip()
    digits = number.replace(".", "", 1)
    if unit not in _UNITS or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"not a duration: {text[:40]!r}")
    return float(number) * _UNITS[unit]


def moment(text: str, now: float, zone: "tzinfo | None" = None) -> float:
    """A time that a person typed, in one of `FORMS`: in the future only if it is ISO 8601, and not
    before 1970. Words may be joined by hyphens.

    A day means its beginning, `last night` 22:00, and `14:30` today or else yesterday; a time that
    the clocks show twice means the first. Without an offset it is in `zone`, by default the
    machine's. Raises ValueError.
    """
    from datetime import datetime

    words = " ".join(text.lower().replace("-", " ").split())
    try:
        return max(0.0, now - duration(words.removesuffix("ago")))
    except ValueError:
        pass
    if words in _DAYS or (":" in words and len(words) <= len("14:30")):
        past = (at for at in _recent(words, now, zone) if at <= now)
        return max(0.0, next(past, now))  # a change of the zone can skip a whole day
    when = datetime.fromisoformat(text.strip())
    if when.year < 1970:  # a local time so early has no seconds on some machines
        return 0.0
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=zone)).timestamp())


def _recent(words: str, now: float, zone: "tzinfo | None") -> Iterator[float]:
    """The times that a day or a time of day can mean, latest first. Raises ValueError."""
    from datetime import datetime, time, timedelta

    here = datetime.fromtimestamp(now, zone)
    if words in _DAYS:
        days, hour = _DAYS[words]
        places = [(days, time(hour))]
    else:
        clock = time.fromisoformat(f"0{words}"[-len("14:30") :])
        places = [(0, clock), (1, clock)]
    for back, at in places:
        day = here - timedelta(back)
        local = day.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
        yield local.timestamp()


def ago(seconds: float) -> str:
    """A duration for people: `12 s`, `5 min`, `3 h`, `2 d`."""
    if seconds < 0:
        return "0 s"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit == "min" and seconds >= size):
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def brief(seconds: float) -> str:
    """A duration in few characters: `6s`, `5m`, `2h`, `3d`; at most `999+d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number}{unit}" if number < 1_000 else "999+d"
    return f"{max(0, int(seconds))}s"


def age(at: str, now: float) -> str:
    """How long ago a record was written: `5 min ago`; `?` if its time cannot be read."""
    try:
        return f"{ago(now - to_seconds(at))} ago"
    except (ValueError, OverflowError):
        return "?"
