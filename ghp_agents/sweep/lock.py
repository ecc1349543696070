"""The right to sweep, and the one id that all clones go by which are made only to sweep.

One sweep at a time saves work and comments said twice; it is not needed to be right, because every
act compares and swaps. A right that is held and does not move while somebody looks at it for long
enough is taken over: who sweeps for longer renews it.
"""

import contextlib
import re
from typing import NamedTuple

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.hotpath.quoting import named
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import LockService, StateStore
from ghp_agents.state.cause import SWEEP, Cause
from ghp_agents.workspace import Workspace

NAME = "sweeper"
PATIENCE = 120.0  # seconds for which a right must not move, to be taken from who holds it
LOOK_EVERY = 10.0
RENEW_EVERY = 30.0  # seconds


class BusyError(RefusedError):
    """Another sweep is at work, and does what this one would."""

    def __init__(self, lease: Lock) -> None:
        who = named(lease.holder, lease.is_person) if lease.holder else "Another"
        super().__init__(
            f"{who} sweeps at this moment (generation {lease.generation}).",
            hint="Nothing needs to be done; the next sweep looks again.",
        )


class SweepTurn:
    """This process's turn to sweep. `check` keeps it, and stops who has lost it."""

    def __init__(self, ws: Workspace, leaser: LockService, lease: Lock) -> None:
        self._ws = ws
        self._leaser = leaser
        self._lease = lease
        self._at = ws.clock.now()

    @property
    def clone(self) -> CloneId | None:
        """The id that clones go by which are made only to sweep."""
        return remembered(self._lease)

    def check(self) -> None:
        """Renew the right if it is time to. Raises BusyError, UnknownError."""
        now = self._ws.clock.now()
        if now - self._at < RENEW_EVERY:
            return
        try:
            self._lease = self._leaser.acquire(
                NAME, self._lease.holder or "", expected=self._lease, reason=self._lease.reason,
                cause=self._lease.cause,
            )  # fmt: skip
        except LockMovedError as moved:
            raise BusyError(moved.current or self._lease) from None
        self._at = now

    def end(self) -> None:
        """Give the right back, if it still is ours; else it is in good hands."""
        with contextlib.suppress(LockMovedError, UnknownError):
            self._leaser.release(
                NAME, expected=self._lease, reason=self._lease.reason, cause=self._lease.cause
            )


class SweepRequest(NamedTuple):
    """Who wants to sweep, in which clone."""

    actor: Actor
    clone: CloneId
    is_fresh: bool  # the clone is made only to sweep, and gone afterwards


def acquire_lock(
    ws: Workspace, store: StateStore, leaser: LockService, who: SweepRequest
) -> SweepTurn:
    """The right to sweep, once nobody else has it; a fresh clone goes by the id of the one before.

    Raises BusyError, UnknownError.
    """
    current = next((lease for lease in leaser.known(NAME) if lease.name == NAME), None)
    while True:
        if current and current.holder is not None:
            current = _wait(ws, leaser, current)
        clone = remembered(current) or (who.clone if who.is_fresh else None)
        reason = f"clone {clone}" if clone else ""
        try:
            cause = Cause(SWEEP, who.actor.name, clone or "")
            mine = leaser.acquire(
                NAME, who.actor.name, expected=current, reason=reason, cause=cause
            )
        except LockMovedError as moved:
            current = moved.current
            continue
        return SweepTurn(ws, leaser, mine)


def remembered(lease: Lock | None) -> CloneId | None:
    """The clone that a right names."""
    known = lease.cause.ref if lease and lease.cause.kind == SWEEP else ""
    return CloneId(known) if re.fullmatch("[0-9a-f]{6,40}", known) else None


def _wait(ws: Workspace, leaser: LockService, lease: Lock) -> Lock | None:
    """The right once it is free, or as it is when its holder can be taken for dead."""
    begun = ws.clock.now()
    current: Lock | None = lease
    while current and current.holder is not None:
        if current.nonce != lease.nonce:
            raise BusyError(current)
        if ws.clock.now() - begun >= PATIENCE:
            return current
        ws.clock.wait(LOOK_EVERY)
        current = leaser.read(NAME)
    return current
