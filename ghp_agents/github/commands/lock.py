"""The lock for comment commands: if two clones read the same command, only one executes it.

It is held briefly. If it does not change for PATIENCE seconds while this clone looks at it, from
one sync to a later one, it is taken over. The new holder repeats the work; each step is safe to
repeat.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ghp_agents.core import files
from ghp_agents.core.errors import NotSetUpError, UnknownError
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import Context, LockService
from ghp_agents.workspace import Workspace

NAME = "commands"
SEEN = "commands-right.json"  # in the folder of caches
PATIENCE = 120.0  # seconds without a change before the lock may be taken over
RENEW_EVERY = 30.0  # seconds
NOBODY = "sync"  # the holder's name if there is no actor


class CommandTurn:
    """Whether this process holds the lock. `keep` leaves the lock with it until its next sync."""

    def __init__(self, ws: Workspace, leaser: LockService, lease: Lock | None) -> None:
        self._ws, self._leaser, self._lease = ws, leaser, lease
        self._at = ws.clock.now()
        self.is_mine = lease is not None
        self.keep = False

    def check(self) -> None:
        """Renew the lock if it is due. Raises UnknownError, also if the lock was taken over."""
        now = self._ws.clock.now()
        if self._lease is None or now - self._at < RENEW_EVERY:
            return
        try:
            self._lease = self._leaser.acquire(
                NAME, self._lease.holder or NOBODY, expected=self._lease
            )
        except LockMovedError as moved:
            raise UnknownError(str(moved), hint="The next sync goes on.") from None
        self._at = now

    def end(self) -> None:
        """Release the lock if we still hold it."""
        if self._lease and not self.keep:
            with suppress(LockMovedError, UnknownError):
                self._leaser.release(NAME, expected=self._lease)


@contextmanager
def turn(ctx: Context) -> Iterator[CommandTurn]:
    """Hold the lock, if it is free, and release it afterwards.

    Raises UnknownError if the holder is unknown.
    """
    mine = CommandTurn(ctx.ws, ctx.leaser, _acquire(ctx))
    try:
        yield mine
    finally:
        mine.end()


def _acquire(ctx: Context) -> Lock | None:
    known = next((lock for lock in ctx.leaser.known(NAME) if lock.name == NAME), None)
    for _ in range(2):
        if known and known.holder is not None and not _is_stuck(ctx.ws, known):
            known = ctx.leaser.read(NAME)
            if known and known.holder is not None and not _is_stuck(ctx.ws, known):
                return None
        try:
            return ctx.leaser.acquire(NAME, _holder(ctx.ws), expected=known)
        except LockMovedError as moved:
            known = moved.current
    return None


def _is_stuck(ws: Workspace, lease: Lock) -> bool:
    """Whether the lock has not changed for PATIENCE seconds since this clone first saw it."""
    now = ws.clock.now()
    try:
        nonce, first = json.loads((ws.cache_dir / SEEN).read_bytes())
        since = now - float(first)
        if nonce == lease.nonce and since >= 0:
            return since >= PATIENCE
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    with suppress(OSError):
        files.write_atomically(ws.cache_dir / SEEN, json.dumps([lease.nonce, now]).encode())
    return False


def _holder(ws: Workspace) -> str:
    try:
        return ws.actor().name
    except NotSetUpError:
        return NOBODY
