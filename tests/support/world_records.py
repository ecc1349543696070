"""What is remembered of a simulated world: lives, their signs, changes of rights, and backups."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.ids import CloneId
from ghp_agents.locks.lock import Lock
from tests.support.twins.state import History

DEAD_AFTER, STALE_AFTER = 1_800.0, 600.0  # seconds
SENT_WITHIN = 15.0  # seconds from a confirmation to the remote, whatever is killed


class Session(NamedTuple):
    """One life of an agent, in one clone."""

    agent: str
    clone: int
    token: str


class Write(NamedTuple):
    """A change of a right, and what was true when it happened."""

    before: Lock | None
    after: Lock
    by: str  # who acted
    epoch: int  # of who acted; 0 for a person
    clone: int
    how: str  # the kind of the step: claim, steal, release, …
    holder_lived: bool  # the holder before was alive for all that could be known
    holder_moved: bool  # and gave a sign of life within `STALE_AFTER`


class Life(NamedTuple):
    """An agent from a start to its end."""

    clone: int
    agent: str
    epoch: int


class Sign(NamedTuple):
    """The last sign of life: when it was given, or came to where others could hear of it."""

    at: float
    seq: int
    status: str = ""
    silent: float = 0.0  # seconds before it, by what its clone reported of a running process


class Work(NamedTuple):
    """A file that an agent wrote in its worktree for an issue."""

    clone: int
    agent: str
    issue: int
    path: Path
    text: str


class Backup(NamedTuple):
    """What the remote had at some time."""

    leases: dict[str, Lock]
    histories: dict[str, list[Lock]]
    clones: Mapping[CloneId, History]
    reached: dict[Life, Sign]


def has_name(
    lock: Lock | None, heard: Mapping[Life, Sign], beats: Mapping[Life, Sign], now: float
) -> bool:
    """Whether a clone has heard the last sign of life of the agent that has this name, and that was
    at most `STALE_AFTER` ago; `beats` are all signs."""
    return lock is not None and any(
        (life.agent, f"clone-{life.clone}") == (lock.holder, lock.clone)
        and life.epoch >= lock.epoch
        and sign.status != "stopped"
        and beats[life].seq == sign.seq
        and now - beats[life].at < STALE_AFTER
        for life, sign in heard.items()
    )
