"""The sweep lock, and the clone id that all ephemeral sweeper clones share.

One sweep at a time saves work and double comments. Safety does not need it: every act is a
compare-and-swap. A lock that does not change for STUCK_AFTER is taken over; longer sweeps renew it.
"""

import re

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.hotpath.quoting import named
from ghp_agents.locks.held import STUCK_AFTER, HeldLock
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import Context
from ghp_agents.state.cause import SWEEP, Cause

NAME = "sweeper"
LOOK_EVERY = 10.0  # seconds


class BusyError(RefusedError):
    """Another sweep is running, and does the same work."""

    def __init__(self, lock: Lock) -> None:
        who = named(lock.holder, lock.is_person) if lock.holder else "Another"
        super().__init__(
            f"{who} is sweeping now (generation {lock.generation}).",
            hint="Nothing to do; the next sweep checks again.",
        )


class SweepLock(HeldLock):
    """The held sweep lock."""

    @property
    def clone(self) -> CloneId | None:
        """The id that ephemeral sweeper clones share."""
        return remembered(self.lock)

    def end(self) -> None:
        """Release the lock; it still names the clone."""
        self.release(self.lock.reason, self.lock.cause)


def acquire_lock(ctx: Context, actor: Actor, fresh: CloneId | None) -> SweepLock:
    """Acquire the sweep lock once it is free. A `fresh` clone, an ephemeral one that was made only
    for this sweep, gets the former one's id.

    Raises BusyError, UnknownError.
    """
    current = next((lock for lock in ctx.locks.known(NAME) if lock.name == NAME), None)
    while True:
        if current and current.holder is not None:
            current = _wait(ctx, current)
        clone = remembered(current) or fresh
        reason = f"clone {clone}" if clone else ""
        try:
            cause = Cause(SWEEP, actor.name, clone or "")
            mine = ctx.locks.acquire(NAME, actor.name, expected=current, reason=reason, cause=cause)
            break
        except LockMovedError as moved:
            current = moved.current
    return SweepLock(ctx, mine, lambda now: BusyError(now or mine))


def remembered(lock: Lock | None) -> CloneId | None:
    """Return the clone that a lock names."""
    clone = lock.cause.ref if lock and lock.cause.kind == SWEEP else ""
    return CloneId(clone) if re.fullmatch("[0-9a-f]{6,40}", clone) else None


def _wait(ctx: Context, lock: Lock) -> Lock | None:
    """Wait until the lock is free or its holder counts as dead; return it then."""
    begun = ctx.ws.clock.now()
    current: Lock | None = lock
    while current and current.holder is not None:
        if current.nonce != lock.nonce:
            raise BusyError(current)
        if ctx.ws.clock.now() - begun >= STUCK_AFTER:
            return current
        ctx.ws.clock.wait(LOOK_EVERY)
        current = ctx.locks.read(NAME)
    return current
