"""The lock for comment commands: if two clones read the same command, only one executes it.

It is held briefly. If it does not change for STUCK_AFTER seconds while this clone looks at it, from
one sync to a later one, it is taken over. The new holder repeats the work; each step is safe to
repeat.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ghp_agents.core.errors import NotSetUpError, UnknownError
from ghp_agents.core.json_file import note_first_seen
from ghp_agents.locks.held import STUCK_AFTER, HeldLock
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

NAME = "commands"
SEEN = "commands-right.json"  # in the folder of caches
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
    lock = next((lock for lock in ctx.locks.known(NAME) if lock.name == NAME), None)
    for _ in range(2):
        if lock and lock.holder is not None and not _is_stuck(ctx.ws, lock):
            lock = ctx.locks.read(NAME)
            if lock and lock.holder is not None and not _is_stuck(ctx.ws, lock):
                return None
        try:
            return ctx.locks.acquire(NAME, _holder(ctx.ws), expected=lock)
        except LockMovedError as moved:
            lock = moved.current
    return None


def _is_stuck(ws: Workspace, lock: Lock) -> bool:
    """Whether the lock has not changed for STUCK_AFTER seconds since this clone first saw it."""
    now = ws.steady()
    first_seen = note_first_seen(ws.cache_dir / SEEN, {NAME: lock.nonce}, now)[NAME]
    return now - first_seen.since >= STUCK_AFTER


def _holder(ws: Workspace) -> str:
    try:
        return ws.actor().name
    except NotSetUpError:
        return NOBODY
