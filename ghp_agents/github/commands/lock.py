"""The right to obey: of two clones that hear the same command at once, one obeys it.

It is held for moments. A right that does not move while this clone looks at it, from one sync to a
later one, is taken over: what its holder had begun is begun again, and each step of it is harmless
to repeat.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ghp_agents.core import files
from ghp_agents.core.errors import NotSetUpError, UnknownError
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import LockService
from ghp_agents.workspace import Workspace

NAME = "commands"
SEEN = "commands-right.json"  # in the folder of caches
PATIENCE = 120.0  # seconds for which the right must not have moved, to be taken from its holder
RENEW_EVERY = 30.0  # seconds
NOBODY = "sync"  # its holder, where nobody is named


class CommandTurn:
    """Whether it is this process's turn. `keep` leaves the right with it, for its next sync."""

    def __init__(self, ws: Workspace, leaser: LockService, lease: Lock | None) -> None:
        self._ws, self._leaser, self._lease = ws, leaser, lease
        self._at = ws.clock.now()
        self.is_mine = lease is not None
        self.keep = False

    def check(self) -> None:
        """Renew the right if it is time to. Raises UnknownError, also when it was taken over."""
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
        """Give the right back, if it still is ours."""
        if self._lease and not self.keep:
            with suppress(LockMovedError, UnknownError):
                self._leaser.release(NAME, expected=self._lease)


@contextmanager
def turn(ws: Workspace, leaser: LockService) -> Iterator[CommandTurn]:
    """This process's turn to obey, if it is; the right is given back afterwards.

    Raises UnknownError when nobody can tell.
    """
    mine = CommandTurn(ws, leaser, _acquire(ws, leaser))
    try:
        yield mine
    finally:
        mine.end()


def _acquire(ws: Workspace, leaser: LockService) -> Lock | None:
    known = next((lock for lock in leaser.known(NAME) if lock.name == NAME), None)
    for _ in range(2):
        if known and known.holder is not None and not _is_stuck(ws, known):
            known = leaser.read(NAME)
            if known and known.holder is not None and not _is_stuck(ws, known):
                return None
        try:
            return leaser.acquire(NAME, _holder(ws), expected=known)
        except LockMovedError as moved:
            known = moved.current
    return None


def _is_stuck(ws: Workspace, lease: Lock) -> bool:
    """Whether the right has not moved since this clone first saw it long ago."""
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
