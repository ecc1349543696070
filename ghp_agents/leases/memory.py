"""Rights in memory: the twin of `git_ref.py` for tests, with leasers that share a board."""

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ghp_agents.clock import to_text
from ghp_agents.errors import UnknownError
from ghp_agents.model.cause import CLAIMED, RELEASED, Cause
from ghp_agents.model.lease import (
    Lease,
    LeaseMovedError,
    given_back,
    lease_name,
    revision,
    still_free,
    taken,
)
from ghp_agents.model.names import Timestamp
from ghp_agents.ports import Clock


@dataclass
class Board:
    """What the remote is to the other leaser: the one place that decides."""

    leases: dict[str, Lease] = field(default_factory=dict)
    histories: dict[str, list[Lease]] = field(default_factory=dict)
    reachable: bool = True
    breaks_after_write: bool = False  # the next change happens, and nobody hears of it
    lock: threading.Lock = field(default_factory=threading.Lock)
    token: Callable[[int], str] = secrets.token_hex  # where nonces come from


class MemoryLeaser:
    """Leasers with the same board contend for the same rights."""

    def __init__(self, clock: Clock, board: Board | None = None, clone: str = "") -> None:
        self._clock = clock
        self._clone = clone
        self._board = board or Board()
        self._known: dict[str, Lease] = {}

    @property
    def clone(self) -> str:
        """The id of this clone, if it was given one."""
        return self._clone

    def read(self, name: str) -> Lease | None:
        """The lease as it is now."""
        lease_name(name)
        with self._board.lock:
            self._reach()
            return self._look(name)

    def acquire(
        self,
        name: str,
        holder: str,
        *,
        expected: Lease | None,
        epoch: int = 0,
        reason: str = "",
        patterns: Sequence[str] = (),
        cause: Cause = CLAIMED,
        clone: str | None = None,
        until: Timestamp | None = None,
    ) -> Lease:
        """Take the right if it still is as `expected`."""
        new = taken(
            name,
            holder,
            expected,
            at=Timestamp(to_text(self._clock.now())),
            nonce=self._board.token(16),
            epoch=epoch,
            reason=reason,
            patterns=patterns,
            cause=cause,
            clone=self.clone if clone is None else clone,
            until=until,
        )
        return self._swap(expected, new)

    def release(
        self, name: str, *, expected: Lease, reason: str = "", cause: Cause = RELEASED
    ) -> Lease:
        """Give the right back."""
        if not expected.is_taken:
            return still_free(expected, self.read(name))
        after = given_back(name, expected, self._board.token(16), reason, cause)
        return self._swap(expected, after)

    def known(self, prefix: str = "") -> list[Lease]:
        """The leases below `prefix` as this leaser knows them, by name."""
        return [lease for name, lease in sorted(self._known.items()) if name.startswith(prefix)]

    def hear(self) -> None:
        """Come to know all that the board knows, as a clone does when it syncs."""
        with self._board.lock:
            self._reach()
            self._known |= self._board.leases

    def history(self, name: str) -> list[Lease]:
        """Every lease that the right has had, oldest first."""
        lease_name(name)
        with self._board.lock:
            self._reach()
            self._look(name)
            return [*self._board.histories.get(name, ())]

    def list(self, prefix: str = "") -> list[Lease]:
        """All leases below `prefix`, by name."""
        with self._board.lock:
            self._reach()
            names = sorted({*self._board.leases, *self._known})
            found = [self._mended(name) for name in names if name.startswith(prefix)]
            return [lease for lease in found if lease]

    def mend(self) -> Sequence[str]:
        """Put back what the board lost."""
        with self._board.lock:
            self._reach()
            lost = [
                name
                for name, known in sorted(self._known.items())
                if (now := self._board.leases.get(name)) is None or _place(now) < _place(known)
            ]
            return [name for name in lost if self._look(name)]

    def _swap(self, expected: Lease | None, new: Lease) -> Lease:
        with self._board.lock:
            self._reach()
            current = self._look(new.name)
            if revision(current) != revision(expected):
                raise LeaseMovedError(new.name, current)
            self._board.leases[new.name] = new
            self._board.histories.setdefault(new.name, []).append(new)
            if self._board.breaks_after_write:
                self._board.breaks_after_write = self._board.reachable = False
            self._reach()
            return self._look(new.name) or new

    def _look(self, name: str) -> Lease | None:
        """What the board says, which is known from then on."""
        current = self._mended(name)
        if current:
            self._known[name] = current
        return current

    def _mended(self, name: str) -> Lease | None:
        """What the board says; what it lost is put back."""
        current, known = self._board.leases.get(name), self._known.get(name)
        if known and (current is None or _place(current) < _place(known)):
            current = self._board.leases[name] = known
        return current

    def _reach(self) -> None:
        if not self._board.reachable:
            raise UnknownError(
                "The board cannot be reached, so nobody knows who holds the right.",
                hint="Try again when it can be reached.",
            )


def _place(lease: Lease) -> tuple[int, bool]:
    """Where a lease stands in the history of its right."""
    return lease.generation, lease.holder is None
