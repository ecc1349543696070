"""The lock for comment commands: if two clones read the same command, only one executes it.

It is held briefly, and taken over from a stuck holder. The new holder repeats the work; each step
is safe to repeat.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ghp_agents.core.errors import NotSetUpError, UnknownError
from ghp_agents.locks.held import HeldLock, is_stuck
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.swap import LockView, known_view, swap
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

NAME = "commands"
NOBODY = "sync"  # the holder's name if there is no actor


@contextmanager
def turn(ctx: Context) -> Iterator[HeldLock | None]:
    """Hold the lock, if it is free, and release it afterwards.

    Raises UnknownError if the holder is unknown.
    """
    lock = _acquire(ctx)
    held = HeldLock(ctx, lock, _lost_error) if lock else None
    try:
        yield held
    finally:
        if held:
            held.release()


def _lost_error(current: Lock | None) -> UnknownError:
    return UnknownError(str(LockMovedError(NAME, current)), hint="The next sync continues.")


def _acquire(ctx: Context) -> Lock | None:
    def decide(seen: LockView) -> Lock | None:
        lock = seen.lock
        if lock and lock.holder is not None and not is_stuck(ctx.ws, lock):
            seen.confirm()
            return None
        return ctx.locks.acquire(NAME, _holder(ctx.ws), expected=lock)

    return swap(known_view(ctx.locks, NAME), decide)


def _holder(ws: Workspace) -> str:
    try:
        return ws.actor().name
    except NotSetUpError:
        return NOBODY
