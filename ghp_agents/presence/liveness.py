"""Who lives: computed when read, never stored, and never by comparing two machines' clocks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ghp_agents.settings.settings import Thresholds
from ghp_agents.state.presence import Presence, number, position


class Liveness(StrEnum):
    """What can be said of an agent now."""

    ACTIVE = "active"
    STALE = "stale"  # warn
    DEAD = "dead"  # may be taken over
    GONE = "gone"  # left out of the joined document
    STOPPED = "stopped"  # it said so itself


class Sighting(NamedTuple):
    """When an observer first saw an agent at this position, by the observer's own clock."""

    epoch: int
    seq: int
    first_seen: float


class Turns(NamedTuple):
    """How often the clone in which an agent moves changed, and when it last did."""

    mover: str
    changes: int
    last: float


class Doubt(NamedTuple):
    """When an observer first found the holder of a right dead, and has not seen it alive since."""

    revision: str  # of the right, and of its holder
    since: float


SECOND_LOOK = 10.0  # seconds, at least, between two looks that both find a holder dead

Memory = Mapping[str, Sighting]  # by "<clone>/<agent>"


def observe(memory: Memory, known: Mapping[str, Presence], now: float) -> dict[str, Sighting]:
    """The observer's memory after a look at what is `known` (by the same keys)."""
    seen: dict[str, Sighting] = {}
    for key, presence in known.items():
        epoch, seq = position(presence)
        had = memory.get(key)
        # A lower one, too: a clone that was restored from a backup begins again below.
        if had is None or (had.epoch, had.seq) != (epoch, seq):
            seen[key] = Sighting(epoch, seq, now)
        else:
            # A clock that was set back must not make an agent older or younger than it is.
            seen[key] = had if had.first_seen <= now else Sighting(epoch, seq, now)
    return seen


def take_turns(
    turns: Mapping[str, Turns], before: Memory, after: Memory, now: float, window: float
) -> dict[str, Turns]:
    """Count, for each agent, the changes of the clone in which it moves.

    An agent that goes to another clone changes once. One that goes back and forth within `window`
    seconds is two living sessions under one name.
    """
    kept = {agent: had for agent, had in turns.items() if now - had.last < window}
    for key, sighting in sorted(after.items()):
        had = before.get(key)
        if had is not None and (had.epoch, had.seq) == (sighting.epoch, sighting.seq):
            continue
        clone, _, agent = key.partition("/")
        last = kept.get(agent)
        if last is None or last.mover != clone:
            kept[agent] = Turns(clone, last.changes + 1 if last else 0, now)
    return kept


def silent_for(sighting: Sighting | None, last_news: float | None) -> float:
    """Seconds for which an agent elsewhere is known not to have moved.

    Only time up to the last news from the remote counts: who hears nothing knows nothing.
    """
    if sighting is None or last_news is None:
        return 0.0
    return max(0.0, last_news - sighting.first_seen)


def is_confirmed(doubt: Doubt, now: float, last_news: float | None) -> bool:
    """Whether a second look may confirm that a holder is dead: it comes some time after the first,
    and there was news in between. Without a remote there is no news to wait for (None)."""
    heard = last_news is None or last_news > doubt.since
    return heard and now - doubt.since >= SECOND_LOOK


def liveness_elsewhere(presence: Presence, silent: float, thresholds: Thresholds) -> Liveness:
    """What it means that another clone has told nothing new of an agent for `silent` seconds.

    That clone may have said that the agent's process runs though it does not beat. It is believed
    for as long as it asked to be.
    """
    lives: bool | None = None
    if "processRunsFor" in presence:
        runs = number(presence, "processRunsFor")
        lives = True if runs > silent else None if runs else False
    whole = silent + max(0, number(presence, "silentFor"))
    return liveness(presence, whole, thresholds, process_lives=lives)


def liveness(
    presence: Presence, silent: float, thresholds: Thresholds, *, process_lives: bool | None = None
) -> Liveness:
    """What an agent's silence of `silent` seconds means.

    `process_lives` is known only on the agent's own machine: a process that ended is dead at
    once; one that runs is at most stale, for it may be in a long test run. After a day it is gone
    all the same: its number may be another process's by now.
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
