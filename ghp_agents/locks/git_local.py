"""Rights that this clone decides, because there is no remote; and its memory of the others."""

import contextlib
from collections.abc import Iterator, Sequence

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.git import process as git
from ghp_agents.locks import commit_chain
from ghp_agents.locks.lock import Lock, LockMovedError, revision
from ghp_agents.state.private_repo import (
    LEASE_REFS,
    SEEN_LEASE_REFS,
    StateRepository,
    descend,
    heal,
)
from ghp_agents.workspace import Workspace

LOCK = "lease.lock"


def read(repository: StateRepository, name: str) -> Lock | None:
    """The lease as this clone has it."""
    return commit_chain.known(repository, name).lease


def list_all(repository: StateRepository, pattern: str = "") -> dict[str, Lock]:
    """The leases that this clone knows, by name: all, or those that git's `pattern` fits."""
    return commit_chain.load_all(repository, [LEASE_REFS, SEEN_LEASE_REFS], pattern)


def history(repository: StateRepository, name: str) -> list[Lock]:
    """Every lease that the right has had here."""
    last = read(repository, name)
    return commit_chain.history(repository, last) if last else []


def swap(ws: Workspace, repository: StateRepository, new: Lock, expected: Lock | None) -> Lock:
    """Put `new` in the place of `expected`. Raises LeaseMovedError, GhpError."""
    from ghp_agents.locks.scratch_repo import scratch  # only who writes needs a place for it

    with _locked(ws) as held, scratch(ws, repository) as private:
        known = commit_chain.known(repository, new.name)
        if revision(known.lease) != revision(expected):
            raise LockMovedError(new.name, known.lease)
        made = commit_chain.append(private, new, expected, ws.clock.now())
        moved = _point(repository, made, known.here, held)
    if moved.code == 0:
        return made
    current = read(repository, new.name)  # without a lock file somebody can have come between
    if revision(current) != revision(expected):
        raise LockMovedError(new.name, current)
    raise git.failure(["update-ref"], moved)


def remember(
    ws: Workspace, repository: StateRepository, lease: Lock, before: str | None = None
) -> None:
    """Keep what the remote said, if it is newer than what is known here. It decides nothing while
    there is a remote, so where it cannot be kept nothing is lost.

    With `before`, where our own ref was when the lease was made to follow what it holds.
    """
    with contextlib.suppress(LockTimeoutError), _locked(ws) as held:
        if before is not None and _point(repository, lease, before, held).code == 0:
            return
        own = commit_chain.load(repository, lease.name, [LEASE_REFS + lease.name])[0]
        if own is None or own.is_at_end or commit_chain.newest([own, lease]) is not own:
            _point(repository, lease, revision(own), held)


def lost(repository: StateRepository) -> list[str]:
    """The rights of which the remote has less than this clone knows, by the last sync."""
    own, seen = (
        commit_chain.revisions(repository, space) for space in (LEASE_REFS, SEEN_LEASE_REFS)
    )
    changed = {name: (seen[name], oid) for name, oid in own.items() if seen.get(name, oid) != oid}
    follow = {earlier for _, earlier in descend(repository, [*changed.values()])}
    return [
        name for name in own if name not in seen or (own[name] not in follow and name in changed)
    ]


def _point(
    repository: StateRepository, lease: Lock, before: str, held: Sequence[int]
) -> git.Result:
    ref = LEASE_REFS + lease.name
    if held:
        heal(repository, ref)
    return repository.run("update-ref", ref, lease.revision, before, keep_open=held)


@contextlib.contextmanager
def _locked(ws: Workspace) -> Iterator[Sequence[int]]:
    """Hold the lock that a git child inherits, so that a ref's lock found under it is a dead
    process's. Where no lock file can be made, git's comparison of the ref decides alone."""
    with contextlib.ExitStack() as stack:
        try:
            held = [stack.enter_context(files.locked(ws.ghp_dir / LOCK))]
        except OSError:
            held = []
        yield held
