"""Times for a person at a terminal: local and short, where records and pipes have ISO 8601 UTC."""

import re
from datetime import UTC, datetime, tzinfo

from ghp_agents.core.clock import MONTHS, ago, to_seconds

DAY = 86_400.0  # seconds
_QUOTED = r"`[^`\n]*`|«[^»\n]*»|\"[^\"\n]*\""
_TIMES = re.compile(
    rf"(?P<quoted>{_QUOTED})"
    r"|(?P<iso>\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?P<has_age> \([^)\n]* ago\))?"
    r"|(?P<clock>\b\d\d:\d\d) UTC\b"
)


def local(at: float, now: float, zone: tzinfo | None = None) -> str:
    """`15:06` of today, `14 Jun, 15:06` of this year, `14 Jun 2024, 15:06` of another one.

    `zone` is by default that of the machine.
    """
    then, here = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone)
    clock = f"{then:%H:%M}"
    if then.date() == here.date():
        return clock
    year = "" if then.year == here.year else f" {then.year}"
    return f"{then.day} {MONTHS[then.month - 1]}{year}, {clock}"


def local_with_age(at: float, now: float, zone: tzinfo | None = None) -> str:
    """The same, with the age of a time in the last 24 hours: `15:06, 6 min ago`."""
    recent = f", {ago(now - at)} ago" if 0 <= now - at < DAY else ""
    return local(at, now, zone) + recent


def localised(text: str, now: float, zone: tzinfo | None = None) -> str:
    """The text with its times as a person reads them. Quoted text stays: it may be a command or
    somebody's words. A time that has an age keeps that age."""

    def replace(time: re.Match[str]) -> str:
        if time["quoted"]:
            return time[0]
        try:
            if time["clock"]:
                return local(_last(time["clock"], now), now, zone)
            at = to_seconds(time["iso"])
            shown = local(at, now, zone) if time["has_age"] else local_with_age(at, now, zone)
        except (ValueError, OverflowError, OSError):  # no time, or too far for this machine
            return time[0]
        return shown + (time["has_age"] or "")

    return _TIMES.sub(replace, text)


def _last(clock: str, now: float) -> float:
    """When it was last so late in UTC. Raises ValueError."""
    hour, minute = map(int, clock.split(":"))
    today = datetime.fromtimestamp(now, UTC).replace(hour=hour, minute=minute, second=0)
    at = today.timestamp()
    return at if at <= now else at - DAY
