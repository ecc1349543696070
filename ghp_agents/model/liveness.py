"""Who lives: computed when read, never stored, and never by comparing two machines' clocks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ghp_agents.model.presence import Presence, position


class Liveness(StrEnum):
    """What can be said of an agent now."""

    ACTIVE = "active"
    STALE = "stale"  # warn
    DEAD = "dead"  # may be taken over
    GONE = "gone"  # left out of the joined document
    STOPPED = "stopped"  # it said so itself


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Seconds without a beat."""

    stale: float = 600.0
    dead: float = 1_800.0
    gone: float = 86_400.0


@dataclass(frozen=True, slots=True)
class Sighting:
    """When an observer first saw an agent at this position, by the observer's own clock."""

    epoch: int
    seq: int
    first_seen: float
    outdone: int = 0  # moves it made while another clone had the agent further on


Memory = Mapping[str, Sighting]  # by "<clone>/<agent>"


def observe(
    memory: Memory, known: Mapping[str, Presence], now: float, outdone: Collection[str] = ()
) -> dict[str, Sighting]:
    """The observer's memory after a look at what is `known` (by the same keys).

    `outdone` are the keys whose agent another clone has at a higher position.
    """
    seen: dict[str, Sighting] = {}
    for key, presence in known.items():
        epoch, seq = position(presence)
        had = memory.get(key)
        if had is None:
            seen[key] = Sighting(epoch, seq, now)
        elif (had.epoch, had.seq) < (epoch, seq):
            seen[key] = Sighting(epoch, seq, now, had.outdone + 1 if key in outdone else 0)
        else:
            # A clock that was set back must not make an agent older or younger than it is.
            seen[key] = had if had.first_seen <= now else replace(had, first_seen=now)
    return seen


def silent_for(sighting: Sighting | None, last_news: float | None) -> float:
    """Seconds for which an agent elsewhere is known not to have moved.

    Only time up to the last news from the remote counts: who hears nothing knows nothing.
    """
    if sighting is None or last_news is None:
        return 0.0
    return max(0.0, last_news - sighting.first_seen)


def liveness(
    presence: Presence, silent: float, thresholds: Thresholds, *, process_lives: bool | None = None
) -> Liveness:
    """What an agent's silence of `silent` seconds means.

    `process_lives` is known only on the agent's own machine: a process that ended is dead at
    once; one that runs is at most stale, for it may be in a long test run.
    """
    if silent >= thresholds.gone:
        return Liveness.GONE
    if presence.get("status") == "stopped":
        return Liveness.STOPPED
    if process_lives is False:
        return Liveness.DEAD
    if silent >= thresholds.dead and process_lives is None:
        return Liveness.DEAD
    return Liveness.STALE if silent >= thresholds.stale else Liveness.ACTIVE
