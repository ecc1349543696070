"""The sweep lock, and the clone id that all ephemeral sweeper clones share.

One sweep at a time saves work and double comments. Safety does not need it: every act is a
compare-and-swap. The lock is taken over from a stuck holder; longer sweeps renew it.
"""

import re

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.hotpath.quoting import named
from ghp_agents.locks.held import STUCK_AFTER, HeldLock, is_stuck
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.swap import LockView, known_view, swap
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

    def decide(seen: LockView) -> Lock:
        current = _wait(ctx, seen.lock)
        clone = remembered(current) or fresh
        reason = f"clone {clone}" if clone else ""
        cause = Cause(SWEEP, actor.name, clone or "")
        return ctx.locks.acquire(NAME, actor.name, expected=current, reason=reason, cause=cause)

    mine = swap(known_view(ctx.locks, NAME), decide)
    return SweepLock(ctx, mine, lambda now: BusyError(now or mine))


def remembered(lock: Lock | None) -> CloneId | None:
    """Return the clone that a lock names."""
    clone = lock.cause.ref if lock and lock.cause.kind == SWEEP else ""
    return CloneId(clone) if re.fullmatch("[0-9a-f]{6,40}", clone) else None


def _wait(ctx: Context, current: Lock | None) -> Lock | None:
    """Return the lock once it is free, or its holder is stuck. Raises BusyError if the holder
    renews it."""
    for _ in range(round(STUCK_AFTER / LOOK_EVERY)):  # a cache that cannot be written notes nothing
        if current is None or current.holder is None or is_stuck(ctx.ws, current):
            break
        ctx.ws.clock.wait(LOOK_EVERY)
        previous, current = current, ctx.locks.read(NAME)
        if current and current.holder is not None and current.nonce != previous.nonce:
            raise BusyError(current)
    return current
