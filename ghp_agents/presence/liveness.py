"""Liveness of agents: computed when read, never stored, without comparing two machines' clocks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ghp_agents.core.first_seen import FirstSeen
from ghp_agents.core.ids import CloneId
from ghp_agents.hotpath import alive
from ghp_agents.presence import start_command
from ghp_agents.presence.start_command import NEXT
from ghp_agents.settings.settings import Thresholds
from ghp_agents.state.presence import Presence, issue_of, number, position


class Liveness(StrEnum):
    """The liveness of an agent."""

    ACTIVE = "active"
    STALE = "stale"  # warn
    DEAD = "dead"  # may be taken over
    GONE = "gone"  # left out of the joined document
    STOPPED = "stopped"  # reported by the agent itself


NO_CLIENT = "client ended"  # shown instead of the liveness of an agent that lost its client


def standing(liveness: Liveness, *, has_no_client: bool) -> str:
    """Whether an agent is at work, as the end of a sentence. All commands use these words."""
    if has_no_client:
        return "its client has ended"
    return "it has stopped" if liveness is Liveness.STOPPED else f"it is {liveness}"


class AgentView(NamedTuple):
    """An agent as seen from this clone, now."""

    name: str
    presence: Presence
    liveness: Liveness
    silent: float  # seconds without a heartbeat, as far as known
    is_here: bool  # it lives in this clone
    heard: float | None = None  # seconds since its last news arrived, if it lives elsewhere
    clone: CloneId | None = None  # where it lives; None: not determined
    quiet: float = 0.0  # seconds without a heartbeat in any clone, as far as known
    has_no_client: bool = False  # its client has ended, and no other process works for it

    @property
    def state(self) -> str:
        """Its liveness, for people; of one whose client has ended, that."""
        return NO_CLIENT if self.has_no_client else self.liveness.value

    @property
    def words(self) -> str:
        """Whether it is at work, as the end of a sentence."""
        return standing(self.liveness, has_no_client=self.has_no_client)

    @property
    def has_ended(self) -> bool:
        """Whether nothing works for it, though it may have a claim."""
        return self.has_no_client or self.liveness is Liveness.STOPPED

    @property
    def continuing(self) -> str:
        """The command by which a person lets it continue in a new session. In another clone than
        its own, the one that lets another agent continue."""
        if self.claimed is not None and not self.is_here:
            return f"ghp agent-release {self.claimed}"
        return start_command.of_agent(issue_of(self.presence) or NEXT, self.name, self.kind)

    @property
    def kind(self) -> str:
        """The kind of its client; empty if that is unknown."""
        kind = self.presence.get("kind")
        return kind if isinstance(kind, str) else ""

    @property
    def claimed(self) -> int | None:
        """The issue that it has claimed, as it reports it."""
        return issue_of(self.presence) if "generation" in self.presence else None

    @property
    def unfinished(self) -> str:
        """Why its last `agent-finish` failed, in its own words; empty if it did not."""
        why = self.presence.get("unfinished")
        return why if isinstance(why, str) else ""


class Sighting(NamedTuple):
    """When an observer first saw an agent at this position, by the observer's own clock."""

    epoch: int
    seq: int
    first_seen: float


class Turns(NamedTuple):
    """How often an agent's presence moved to another clone, and when it last did."""

    mover: str
    changes: int
    last: float


SECOND_LOOK = 10.0  # seconds, at least, between two looks that both find a holder dead

Memory = Mapping[str, Sighting]  # by "<clone>/<agent>"


def observe(memory: Memory, presences: Mapping[str, Presence], now: float) -> dict[str, Sighting]:
    """The observer's memory after a look at `presences` (same keys)."""
    sightings: dict[str, Sighting] = {}
    for key, presence in presences.items():
        epoch, seq = position(presence)
        last = memory.get(key)
        # A lower position counts, too: a clone restored from a backup starts lower.
        if last is None or (last.epoch, last.seq) != (epoch, seq):
            sightings[key] = Sighting(epoch, seq, now)
        else:
            # A clock that was set back must not change an agent's age.
            sightings[key] = last if last.first_seen <= now else Sighting(epoch, seq, now)
    return sightings


def take_turns(
    turns: Mapping[str, Turns], before: Memory, after: Memory, now: float, window: float
) -> dict[str, Turns]:
    """Count for each agent how often its presence moves to another clone.

    An agent that goes to another clone counts once. One that goes back and forth within `window`
    seconds is two live sessions under one name.
    """
    kept = {agent: turn for agent, turn in turns.items() if now - turn.last < window}
    for key, sighting in sorted(after.items()):
        old = before.get(key)
        if old is not None and (old.epoch, old.seq) == (sighting.epoch, sighting.seq):
            continue
        clone, _, agent = key.partition("/")
        last = kept.get(agent)
        if last is None or last.mover != clone:
            kept[agent] = Turns(clone, last.changes + 1 if last else 0, now)
    return kept


def silent_for(sighting: Sighting | None, last_news: float | None) -> float:
    """Seconds for which an agent of another clone has sent no new presence.

    Only time up to the last news from the remote counts; later, nothing is known.
    """
    if sighting is None or last_news is None:
        return 0.0
    return max(0.0, last_news - sighting.first_seen)


def is_confirmed(doubt: FirstSeen, now: float, last_news: float | None) -> bool:
    """Whether a second look may confirm that a holder is dead: at least `SECOND_LOOK` after the
    first, with news in between. Without a remote, `last_news` is None and no news is needed."""
    has_news = last_news is None or last_news > doubt.since
    return has_news and now - doubt.since >= SECOND_LOOK


def liveness_elsewhere(presence: Presence, silent: float, thresholds: Thresholds) -> Liveness:
    """The liveness of an agent of another clone without new presence for `silent` seconds.

    That clone may report that the agent's process runs without heartbeats. The report is valid
    for the time it states.
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
    """The liveness of an agent after `silent` seconds without a heartbeat; see `alive.verdict`."""
    limits = thresholds.stale, thresholds.dead, thresholds.gone
    return Liveness(alive.verdict(presence, silent, process_lives, *limits))
