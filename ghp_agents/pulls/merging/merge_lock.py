"""The lock `trunk`: only its holder merges.

It saves work; safety does not need it, because every push is a compare-and-swap. So anyone may
take it over once it has not changed for `dead_after`. Its holder may be a person whose command
was killed, or a live agent that does something else by now.

It names the clone that holds it: one person or agent in two clones counts as two mergers. Only in
that clone is it known that a killed command does not go on.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.effects import ClaimContext, registered
from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.ids import UNNAMED
from ghp_agents.hotpath.quoting import named, reason, when
from ghp_agents.locks.held import HeldLock, is_stuck
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.swap import LockView, current_view, swap

NAME = "trunk"
LOCK = "merge.lock"  # two processes of one agent, or of one person, are both the holder
PAUSE = 2.0  # seconds between two reads while waiting


@contextmanager
def held(me: ClaimContext, reason: str, *, patience: float = 0.0) -> Iterator[HeldLock]:
    """Hold the lock for the block; wait for it at most `patience` seconds. Raises RefusedError
    when somebody else merges, UnknownError."""
    files.usable(me.ctx.ws.ghp_dir)
    try:
        with files.locked_if_possible(me.ctx.ws.ghp_dir / LOCK, patience=max(0.1, patience)):
            until = me.ctx.ws.clock.now() + patience
            lock = HeldLock(me.ctx, _wait_and_acquire(me, reason, until), lost_error)
            try:
                registered(me)
                yield lock
            finally:
                lock.release("merged")
    except LockTimeoutError:
        raise RefusedError(
            "Another process of this clone is merging now.",
            hint="Try again, or wait: `ghp agent-merge --queue --wait 600`.",
        ) from None


def _wait_and_acquire(me: ClaimContext, reason: str, until: float) -> Lock:
    def decide(seen: LockView) -> Lock:
        current = seen.lock
        while current and current.holder and not _can_take_over(me, current):
            if me.ctx.ws.clock.now() >= until:
                raise _busy_error(current)
            me.ctx.ws.clock.wait(PAUSE)
            current = me.ctx.locks.read(NAME)
        return me.ctx.locks.acquire(
            NAME, me.name, expected=current, epoch=me.epoch, reason=from_here(me, reason)
        )

    return swap(current_view(me.ctx.locks, NAME), decide)


def from_here(me: ClaimContext, reason: str) -> str:
    """Return the lock's reason, with this clone's name."""
    return ", ".join(filter(None, (reason, f"in clone {_clone(me)}")))


def _clone(me: ClaimContext) -> str:
    if me.ctx.store.snapshot().clone == UNNAMED:
        with suppress(GhpError, OSError):
            me.ctx.store.fold()
    return me.ctx.store.snapshot().clone


def _can_take_over(me: ClaimContext, lock: Lock) -> bool:
    if is_mine(lock, me.name, me.epoch, me.clone) and lock.clone and lock.clone == me.clone:
        return True  # an earlier command of ours was killed
    if is_stuck(me.ctx.ws, lock, me.ctx.ws.settings.dead_after):  # checks may take long
        return True
    return not holder_liveness.holders_of(me.ctx, [lock])[lock.name].lives


def _busy_error(lock: Lock) -> RefusedError:
    who = named(lock.holder or "", lock.is_person)
    return RefusedError(
        f"{who} has been merging since {when(lock.acquired_at)}.{reason(lock.reason, who)}",
        hint="Only one merges at a time. Try again, or wait: `ghp agent-merge --queue --wait 600`.",
    )


def lost_error(lock: Lock | None) -> RefusedError:
    """The error of a merger whose lock another has acquired."""
    holder = named(lock.holder, lock.is_person) if lock and lock.holder else "Somebody"
    return RefusedError(
        f"{holder} acquired the merge lock meanwhile; nothing was merged.",
        hint="Run the same command again.",
    )
