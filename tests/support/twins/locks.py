"""Locks in memory: the twin of `locks/git.py`. Lock services share a board."""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Timestamp
from ghp_agents.locks import lost_lock
from ghp_agents.locks.lock import (
    KINDS,
    Lock,
    LockMovedError,
    Release,
    checked_lock_name,
    given_back,
    revision,
    still_free,
    taken,
)
from ghp_agents.ports import Clock
from ghp_agents.state.cause import CLAIMED, RELEASED, Cause
from ghp_agents.state.record import Problem


@dataclass
class Board:
    """Stands for the remote: the one place that decides."""

    leases: dict[str, Lock] = field(default_factory=dict)
    histories: dict[str, list[Lock]] = field(default_factory=dict)
    reachable: bool = True
    breaks_after_write: bool = False  # the next change is made, but its caller gets an error
    lock: threading.Lock = field(default_factory=threading.Lock)
    token: Callable[[int], str] = secrets.token_hex  # generates nonces


class MemoryLocks:
    """Lock services with the same board contend for the same locks."""

    def __init__(self, clock: Clock, board: Board | None = None, clone: str = "") -> None:
        self._clock = clock
        self._clone = clone
        self._board = board or Board()
        self._known: dict[str, Lock] = {}
        self._chains: dict[str, tuple[Lock, ...]] = {}  # ends with the known value

    @property
    def clone(self) -> str:
        """The id of this clone, if it was given one."""
        return self._clone

    def read(self, name: str) -> Lock | None:
        """The lock as it is now."""
        checked_lock_name(name)
        with self._board.lock:
            self._check_reachable()
            return self._read_board(name)

    def acquire(
        self,
        name: str,
        holder: str,
        *,
        expected: Lock | None,
        epoch: int = 0,
        reason: str = "",
        patterns: Sequence[str] = (),
        cause: Cause = CLAIMED,
        clone: str | None = None,
        until: Timestamp | None = None,
    ) -> Lock:
        """Acquire the lock if it still is as `expected`."""
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
        self, name: str, *, expected: Lock, reason: str = "", cause: Cause = RELEASED
    ) -> Lock:
        """Release the lock."""
        if not expected.is_taken:
            return still_free(expected, self.read(name))
        after = given_back(name, expected, self._board.token(16), reason, cause)
        return self._swap(expected, after)

    def release_all(self, releases: Sequence[Release]) -> Sequence[Lock | None]:
        """Release several locks, each if it still is as expected."""
        return [self._try_release(release) for release in releases]

    def _try_release(self, one: Release) -> Lock | None:
        name, before = one.expected.name, one.expected
        with suppress(LockMovedError):
            return self.release(name, expected=before, reason=one.reason, cause=one.cause)
        return None

    def known_histories(self, names: Sequence[str]) -> Mapping[str, Sequence[Lock]]:
        """Every value of some locks that this service knows."""
        return {
            name: self._chains[name] for name in names if checked_lock_name(name) in self._known
        }

    def known(self, prefix: str = "") -> list[Lock]:
        """The locks below `prefix` as this service knows them, by name."""
        return [lease for name, lease in sorted(self._known.items()) if name.startswith(prefix)]

    def problems(self) -> list[Problem]:
        """The board holds no unreadable lock."""
        return []

    def hear(self) -> None:
        """Learn all locks of the board, as a clone does in a sync."""
        with self._board.lock:
            self._check_reachable()
            for name in self._board.leases:
                self._read_board(name)

    def history(self, name: str) -> list[Lock]:
        """Every value of the lock, oldest first."""
        checked_lock_name(name)
        with self._board.lock:
            self._check_reachable()
            self._read_board(name)
            return [*self._board.histories.get(name, ())]

    def list(self, prefix: str = "") -> list[Lock]:
        """All locks below `prefix`, by name."""
        with self._board.lock:
            self._check_reachable()
            names = sorted({*self._board.leases, *self._known})
            locks = [self._read_restored(name) for name in names if name.startswith(prefix)]
            return [lease for lease in locks if lease]

    def mend(self) -> Sequence[str]:
        """Restore what the board lost."""
        with self._board.lock:
            self._check_reachable()
            before = {name: self._board.leases.get(name) for name in sorted(self._known)}
            return [name for name, lease in before.items() if self._read_board(name) is not lease]

    def _swap(self, expected: Lock | None, new: Lock) -> Lock:
        with self._board.lock:
            self._check_reachable()
            current = self._read_board(new.name)
            if revision(current) != revision(expected):
                raise LockMovedError(new.name, current)
            self._board.leases[new.name] = new
            self._board.histories.setdefault(new.name, []).append(new)
            if self._board.breaks_after_write:
                self._board.breaks_after_write = self._board.reachable = False
            self._check_reachable()
            return self._read_board(new.name) or new

    def _read_board(self, name: str) -> Lock | None:
        """Read the lock from the board, and remember it."""
        current, local = self._read_restored(name), self._known.get(name)
        if current and (local is None or local.revision != current.revision):
            self._known[name] = current
            self._chains[name] = tuple(self._board.histories[name])
        return current

    def _read_restored(self, name: str) -> Lock | None:
        """Read the lock from the board after restoring what it lost."""
        current, local = self._board.leases.get(name), self._known.get(name)
        if local and (current is None or local.revision != current.revision):
            return self._restore(name, current, local)
        return current

    def _restore(self, name: str, current: Lock | None, local: Lock) -> Lock:
        """The lock after the board may have lost some of its history."""
        theirs, ours = self._board.histories.get(name, []), self._chains[name]
        if current and any(lease.revision == local.revision for lease in theirs):
            return current
        if current is None or any(lease.revision == current.revision for lease in ours):
            self._board.histories[name] = [*ours]
            self._board.leases[name] = local
            return local
        decided = [x for x in theirs if x.is_disputed and x.generation >= local.generation]
        one_of_many = name.partition("/")[0] in KINDS
        if not one_of_many or (current.holder is not None and decided):
            return current
        joined = lost_lock.joined(current, local, self._board.token(16), self._clone)
        if joined is None:
            return current
        joined = joined._replace(revision=self._board.token(16))
        theirs.append(joined)
        self._board.leases[name] = joined
        return joined

    def _check_reachable(self) -> None:
        if not self._board.reachable:
            raise UnknownError(
                "The board cannot be reached, so nobody knows who holds the lock.",
                hint="Try again when it can be reached.",
            )
