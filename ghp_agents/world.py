"""The world: what a command knows in one moment.

`Context.world` is made once in a moment, on one snapshot; each part is read on first use. A write,
a wait or an exchange ends the moment, and the next question gets a new world. Inside `transact`,
make one on the snapshot that `decide` gets. This module knows no noun: a noun adds its part as a
function of a world (`core/moment.py`).
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ghp_agents.core.ids import Actor
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import LockService, Snapshot
from ghp_agents.workspace import Workspace


class World:
    """What is known in one moment. Each part is read once, on first use."""

    def __init__(self, ws: Workspace, snapshot: Snapshot, locks: LockService) -> None:
        self.ws, self.snapshot, self._locks = ws, snapshot, locks
        self.now = ws.clock.now()
        self.derived: dict[Hashable, Any] = {}

    @cached_property
    def locks(self) -> Sequence[Lock]:
        """All locks that this clone knows, by name."""
        return self._locks.known()

    @cached_property
    def claim_locks(self) -> Mapping[int, Lock]:
        """The locks of issues, also released ones, by issue."""
        named = ((claimed_issue(lock.name), lock) for lock in self._locks.known(PREFIX))
        return {issue: lock for issue, lock in named if issue is not None}

    @cached_property
    def claims(self) -> Mapping[int, Lock]:
        """The claims that somebody holds, by issue."""
        return {issue: lock for issue, lock in self.claim_locks.items() if lock.holder}

    def held_by(self, who: Actor) -> Mapping[int, Lock]:
        """The claims of an agent or a person, by issue."""
        holder = (who.name, who.is_person)
        return {
            issue: lock
            for issue, lock in self.claims.items()
            if (lock.holder, lock.is_person) == holder
        }
