"""The world: what a command knows in one moment.

`Context.world` is made once in a moment, on one snapshot; each part is read on first use. A write,
a wait or an exchange ends the moment, and the next question gets a new world. Inside `transact`,
make one on the snapshot that `decide` gets. This module knows no noun: a noun adds its part as a
function of a world (`core/moment.py`).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ghp_agents.core.ids import Actor
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import Context, Snapshot
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.git.worktree_admin import Checkout


class World:
    """What is known in one moment. Each part is read once, on first use."""

    def __init__(
        self, ctx: Context, snapshot: Snapshot | None = None, at: float | None = None
    ) -> None:
        self.ctx, self.at, self.is_past = ctx, at, at is not None
        self.derived: dict[Hashable, Any] = {}
        if snapshot is not None:
            self.snapshot = snapshot

    @cached_property
    def snapshot(self) -> Snapshot:
        """The records, by default those of the moment."""
        return self.ctx.store.snapshot(self.at)

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""
        return self.ctx.ws

    @cached_property
    def now(self) -> float:
        """The time by the clone's clock."""
        return self.ws.clock.now() if self.at is None else self.at

    @cached_property
    def checkouts(self) -> "Sequence[Checkout]":
        """The worktrees of this clone, the main one first. Raises GitError."""
        from ghp_agents.git import worktree_admin

        return worktree_admin.listed(self.ws.folder)

    @cached_property
    def locks(self) -> Sequence[Lock]:
        """All locks that this clone knows, by name. Those of the past are not known."""
        return [] if self.is_past else self.ctx.locks.known()

    @cached_property
    def claim_locks(self) -> Mapping[int, Lock]:
        """The locks of issues, also released ones, by issue."""
        return {} if self.is_past else by_issue(self.ctx.locks.known(PREFIX))

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


def by_issue(locks: Iterable[Lock]) -> dict[int, Lock]:
    """The locks of issues among these, by issue."""
    named = ((claimed_issue(lock.name), lock) for lock in locks)
    return {issue: lock for issue, lock in named if issue is not None}
