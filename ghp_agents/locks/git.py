"""Locks as git refs. The coordination remote decides, or this clone if there is none.

Every tracker has a lock service and few use it, so the implementation is imported late.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Timestamp
from ghp_agents.locks.lock import (
    KINDS,
    Lock,
    LockMovedError,
    Release,
    checked_lock_name,
    given_back,
    still_free,
    taken,
)
from ghp_agents.state.cause import CLAIMED, RELEASED, Cause
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.private_repo import StateRepository, find_repository, open_repository
from ghp_agents.state.record import Problem
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.locks.lock_refs import LockPlaces


class GitLocks:
    """`ports.LockService` on the refs `refs/ghp/lease/<name>`."""

    def __init__(self, ws: Workspace, tell: Callable[[str], None] | None = None) -> None:
        self._ws = ws
        self._tell = tell or _discard_message
        self._listed: list[Lock] = []  # whose commits need not be read again
        self._absent: set[str] = set()  # names read just now that this clone does not know

    @property
    def clone(self) -> str:
        """The id of this clone; empty if it has none yet."""
        repository = find_repository(self._ws)
        return repository.clone if repository else ""

    def read(self, name: str) -> Lock | None:
        """The lock as it is now."""
        from ghp_agents.locks import git_local, git_remote

        checked_lock_name(name)
        places = self._find_places()
        if places:
            return git_remote.read(places, name)
        repository = find_repository(self._ws)
        return git_local.read(repository, name) if repository else None

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
            at=Timestamp(to_text(self._ws.clock.now())),
            nonce=random_hex(16),
            epoch=epoch,
            reason=reason,
            patterns=patterns,
            cause=cause,
            clone=self._open().clone if clone is None else clone,
            until=until,
        )
        return self._swap(new, expected)

    def release(
        self, name: str, *, expected: Lock, reason: str = "", cause: Cause = RELEASED
    ) -> Lock:
        """Release the lock."""
        if not expected.is_taken:  # two releases of one generation could not be distinguished
            return still_free(expected, self.read(name))
        return self._swap(given_back(name, expected, random_hex(16), reason, cause), expected)

    def release_all(self, releases: Sequence[Release]) -> Sequence[Lock | None]:
        """Release several locks by one exchange, each if it still is as expected."""
        from ghp_agents.locks import git_remote

        pairs = [
            (given_back(x.expected.name, x.expected, random_hex(16), x.reason, x.cause), x.expected)
            for x in releases
        ]
        places = self._find_places()
        if places and len(pairs) > 1:
            return git_remote.swap_all(places, pairs)
        return [self._try_swap(new, expected) for new, expected in pairs]

    def _try_swap(self, new: Lock, expected: Lock) -> Lock | None:
        with suppress(LockMovedError):
            return self._swap(new, expected)
        return None

    def known(self, prefix: str = "") -> list[Lock]:
        """The locks below `prefix` as this clone knows them, by name."""
        kept = self._ws.kept
        listed = "" if kept.has((self, "")) else prefix  # of thousands, few may be wanted
        locks = kept.get((self, listed), lambda: self._read_known(listed))
        self._absent = {prefix} - {lock.name for lock in locks}
        return _chosen(locks, prefix)

    def _read_known(self, prefix: str) -> Sequence[Lock]:
        from ghp_agents.locks import git_local

        repository = find_repository(self._ws)
        before = {lock.revision: lock for lock in self._listed}
        locks = git_local.list_all(repository, prefix, before) if repository else {}
        self._listed = [*locks.values()]
        return self._listed

    def problems(self) -> list[Problem]:
        """The locks that this clone cannot read."""
        from ghp_agents.locks import git_local

        repository = find_repository(self._ws)
        return git_local.problems(repository) if repository else []

    def history(self, name: str) -> list[Lock]:
        """Every value of the lock, oldest first."""
        from ghp_agents.locks import commit_chain

        last = self.read(name)
        return commit_chain.history(self._open(), last) if last else []

    def known_histories(self, names: Sequence[str]) -> Mapping[str, Sequence[Lock]]:
        """The values of locks as this clone knows them, oldest first."""
        from ghp_agents.locks import commit_chain

        repository = find_repository(self._ws)
        if repository is None:
            return {}
        latest = [commit_chain.known(repository, checked_lock_name(name)).lock for name in names]
        return commit_chain.histories(repository, [lock for lock in latest if lock])

    def list(self, prefix: str = "") -> list[Lock]:
        """All locks below `prefix`, by name."""
        from ghp_agents.locks import git_local, git_remote

        kind = prefix.partition("/")[0]
        folder = f"{kind}/" if "/" in prefix and kind in KINDS else ""
        places = self._find_places()
        if places:
            locks = git_remote.list_all(places, folder)
        else:
            repository = find_repository(self._ws)
            locks = [*git_local.list_all(repository).values()] if repository else []
        return _chosen(locks, prefix)

    def mend(self) -> Sequence[str]:
        """Restore what the remote lost, as of the last sync; returns the names of those locks."""
        from ghp_agents.locks import git_local, git_remote

        places = self._find_places()
        if places is None:
            return []
        lost = git_local.lost(self._open())
        return [name for name in lost if git_remote.restore(places, name)]

    def _swap(self, new: Lock, expected: Lock | None) -> Lock:
        from ghp_agents.locks import git_local, git_remote

        is_absent = new.name in self._absent
        self._absent.clear()
        places = self._find_places()
        if places:
            return git_remote.swap(places, new, expected, is_absent=is_absent)
        try:
            return git_local.swap(self._ws, self._open(), new, expected)
        except OSError as error:
            raise self._unwritable(error) from None

    def _find_places(self) -> "LockPlaces | None":
        from ghp_agents.locks.lock_refs import LockPlaces

        remote = coordination_remote(self._ws)
        return LockPlaces(self._ws, self._open(), remote, self._tell) if remote else None

    def _open(self) -> StateRepository:
        try:
            return open_repository(self._ws)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> GhpError:
        return GhpError(
            f"Cannot use locks here: {self._ws.ghp_dir} is not writable ({error.strerror}).",
            hint="Run this outside the sandbox, or free disk space.",
        )


def _discard_message(_: str) -> None:
    """For programs that show no messages."""


def _chosen(locks: Iterable[Lock], prefix: str) -> list[Lock]:
    return sorted([x for x in locks if x.name.startswith(prefix)], key=attrgetter("name"))
