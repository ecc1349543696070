"""A lock that one process holds while it works."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from ghp_agents.core import json_file
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.first_seen import FirstSeen
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import Context
from ghp_agents.state import observed
from ghp_agents.state.cause import RELEASED, Cause
from ghp_agents.workspace import Workspace

STUCK_AFTER = 120.0  # seconds without a change before such a lock may be taken over
RENEW_EVERY = 30.0  # seconds


class HeldLock:
    """The lock, and its renewal. `lost` makes the error for when another has acquired it.

    `is_kept` leaves the lock with this process at the end.
    """

    def __init__(self, ctx: Context, lock: Lock, lost: Callable[[Lock | None], GhpError]) -> None:
        self.lock, self.is_kept = lock, False
        self._ctx, self._lost = ctx, lost
        self._at = ctx.ws.clock.now()

    def renew_if_due(self) -> None:
        """Renew a lock that was not renewed for RENEW_EVERY. Raises `lost`, UnknownError."""
        if self._ctx.ws.clock.now() - self._at >= RENEW_EVERY:
            self.renew(self.lock.reason)

    def renew(self, reason: str) -> None:
        """Renew the lock with this reason. Raises `lost`, UnknownError."""
        held, now = self.lock, self._ctx.ws.clock.now()
        try:
            self.lock = self._ctx.locks.acquire(
                held.name, held.holder or "", expected=held, epoch=held.epoch, reason=reason,
                cause=held.cause,
            )  # fmt: skip
        except LockMovedError as moved:
            raise self._lost(moved.current) from None
        self._at = now

    def confirm(self) -> None:
        """Read the lock and raise `lost` if it is not ours any more. Raises UnknownError."""
        now = self._ctx.locks.read(self.lock.name)
        if now is None or now.nonce != self.lock.nonce:
            raise self._lost(now)

    def release(self, reason: str = "", cause: Cause = RELEASED) -> None:
        """Release the lock, if we still hold it; without the remote it is left to expire."""
        if not self.is_kept:
            with suppress(LockMovedError, UnknownError):
                self._ctx.locks.release(
                    self.lock.name, expected=self.lock, reason=reason, cause=cause
                )


def is_stuck(ws: Workspace, lock: Lock, after: float = STUCK_AFTER) -> bool:
    """Whether the holder of such a lock is stuck, so that anyone may take it over: the lock has not
    changed for `after` seconds since this clone first saw it as it is.

    Clocks of two machines are not compared. A holder that works on renews its lock.
    """
    return ws.steady() - note_first_seen(ws, [lock])[lock.name].since >= after


def note_first_seen(ws: Workspace, locks: Iterable[Lock]) -> Mapping[str, FirstSeen]:
    """When each of these locks was first seen here at its present revision, by name."""
    revisions = {lock.name: lock.revision for lock in locks}
    return json_file.note_first_seen(ws.cache_dir / observed.CLAIMS, revisions, ws.steady())
