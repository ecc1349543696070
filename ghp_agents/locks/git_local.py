"""Locks that this clone decides because there is no remote, and its copy of the remote's locks."""

import contextlib
from collections.abc import Mapping, Sequence

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.git.process import GitError
from ghp_agents.locks import commit_chain
from ghp_agents.locks.lock import Lock, LockMovedError, revision
from ghp_agents.state.private_repo import (
    LEASE_REFS,
    SEEN_LEASE_REFS,
    StateRepository,
    descend,
    heal,
)
from ghp_agents.state.record import Problem
from ghp_agents.workspace import Workspace

LOCK = "lease.lock"


def read(repository: StateRepository, name: str) -> Lock | None:
    """The lock in this clone."""
    return commit_chain.known(repository, name).lock


def list_all(
    repository: StateRepository, prefix: str = "", before: Mapping[str, Lock] | None = None
) -> dict[str, Lock]:
    """The locks that this clone knows, by name, whose name begins with `prefix`. See `load_all`."""
    return commit_chain.load_all(repository, [LEASE_REFS, SEEN_LEASE_REFS], prefix, before)


def problems(repository: StateRepository) -> list[Problem]:
    """The locks that this clone cannot read, of its own and of the last sync."""
    return commit_chain.problems(repository, [LEASE_REFS, SEEN_LEASE_REFS])


def swap(ws: Workspace, repository: StateRepository, new: Lock, expected: Lock | None) -> Lock:
    """Replace `expected` by `new`. Raises LockMovedError, GhpError."""
    with _locked(ws) as held:
        current = commit_chain.known(repository, new.name)
        if revision(current.lock) != revision(expected):
            raise LockMovedError(new.name, current.lock)
        created = commit_chain.append(repository, new, expected, ws.clock.now())
        if _point(repository, created, current.here, held):
            return created
    present = read(repository, new.name)
    if revision(present) == revision(expected):
        raise GhpError(
            f"Another process is changing {new.name}: its ref is locked.",
            hint=f"Try again. If no such process runs, remove {repository.path}/{LEASE_REFS}"
            f"{new.name}.lock.",
        )
    raise LockMovedError(new.name, present)  # without a lock file another process was faster


def remember(
    ws: Workspace, repository: StateRepository, lock: Lock, before: str | None = None
) -> None:
    """Store the remote's value if it is newer than ours. Failure does no harm, because the remote
    decides.

    `before` is the commit of our own ref that `lock` follows.
    """
    with contextlib.suppress(LockTimeoutError, GitError), _locked(ws) as held:
        if before is not None and _point(repository, lock, before, held):
            return
        own = commit_chain.load(repository, lock.name, [LEASE_REFS + lock.name])[0]
        if own is None or own.is_at_end or commit_chain.newest([own, lock]) is not own:
            _point(repository, lock, revision(own), held)


def lost(repository: StateRepository) -> list[str]:
    """The locks of which the remote has an older value than this clone, as of the last sync."""
    own, synced = (
        commit_chain.revisions(repository, space) for space in (LEASE_REFS, SEEN_LEASE_REFS)
    )
    changed = {
        name: (synced[name], oid) for name, oid in own.items() if synced.get(name, oid) != oid
    }
    follow = {earlier for _, earlier in descend(repository, [*changed.values()])}
    return [
        name for name in own if name not in synced or (own[name] not in follow and name in changed)
    ]


def _point(repository: StateRepository, lock: Lock, before: str, held: Sequence[int]) -> bool:
    ref = LEASE_REFS + lock.name
    heal(repository, ref, held)
    return repository.point(ref, lock.revision, before or None, held)


def _locked(ws: Workspace) -> contextlib.AbstractContextManager[list[int]]:
    """Hold the lock file, which git children inherit: a ref lock found under it belongs to a dead
    process. Without a lock file, git's comparison of the ref decides alone."""
    return files.locked_if_possible(ws.ghp_dir / LOCK)
