"""Time: seconds since the epoch inside, ISO 8601 UTC with `Z` in every record."""

import time

from ghp_agents.hotpath import boot_clock


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


_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


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


def moment(text: str, now: float) -> float:
    """A time that a person typed: ISO 8601, or how long ago (`90s`, `10m`, `2h`, `3d`).

    Raises ValueError.
    """
    try:
        return now - duration(text.strip().lower().removesuffix("ago").strip().lstrip("-"))
    except ValueError:
        return to_seconds(text.strip())


def ago(seconds: float) -> str:
    """A duration for people: `12 s`, `5 min`, `3 h`, `2 d`."""
    if seconds < 0:
        return "0 s"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit == "min" and seconds >= size):
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def age(at: str, now: float) -> str:
    """How long ago a record was written: `5 min ago`; `?` if its time cannot be read."""
    try:
        return f"{ago(now - to_seconds(at))} ago"
    except (ValueError, OverflowError):
        return "?"
