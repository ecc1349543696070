"""Locks that the coordination remote decides: one push is one compare-and-swap."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.errors import LostAnswerError, UnknownError
from ghp_agents.locks import commit_chain, git_local, restore_lost
from ghp_agents.locks.lock import Lock, LockMovedError, revision
from ghp_agents.locks.lock_refs import LockPlaces, refused
from ghp_agents.locks.scratch_repo import SPACE, scratch
from ghp_agents.state.coordination import BRANCHES, CUSTOM, coordination_remote
from ghp_agents.state.private_repo import LEASE_REFS, StateRepository, descend
from ghp_agents.state.remote import Pushed, PushOutcome, fetch_refs, push, unreachable


class _Found(NamedTuple):
    """A lock on the remote, and whether this clone just restored it."""

    lock: Lock | None
    is_restored: bool = False


NOTHING = commit_chain.KnownLock(None, "")
ATTEMPTS = 4  # retried only if something changed in between
# Where a fetch stores the refs from each of the two namespaces on a remote.
_FOUND = {CUSTOM: f"{SPACE}custom/", BRANCHES: f"{SPACE}branches/"}


def read(places: LockPlaces, name: str) -> Lock | None:
    """The lock as the remote has it now. Raises UnknownError, GhpError."""
    return _read(places, name, must_push=False).lock


def restore(places: LockPlaces, name: str) -> bool:
    """Restore the lock if the remote lost it. Whether that was so: another process may have
    acquired the lock since the last sync. Raises UnknownError, GhpError."""
    return _read(places, name, must_push=False).is_restored


def list_all(places: LockPlaces, folder: str) -> list[Lock]:
    """The locks below `folder` (`issue/`, or empty for all) as the remote has them now."""
    refspecs = [f"+{space}lease/{folder}*:{_FOUND[space]}{folder}*" for space in places.spaces]
    with scratch(places.ws, places.repository) as private:
        for _ in range(ATTEMPTS):
            fetch_refs(places.ws, private, places.remote, refspecs)
            remote_locks = commit_chain.load_all(
                private, [_FOUND[space] for space in places.spaces]
            )
            local_locks = git_local.list_all(places.repository)
            if not _restore_all(places, private, remote_locks, local_locks):
                continue
            missing = [
                x
                for x in local_locks.values()
                if x.name.startswith(folder) and x.name not in remote_locks and not x.is_at_end
            ]
            answer, missing = _carry_over(places, private, missing)
            if answer is not PushOutcome.MOVED:
                return [*remote_locks.values(), *missing]
    raise unreachable(places.remote, "the locks kept changing while they were listed")


def _restore_all(
    places: LockPlaces,
    private: StateRepository,
    remote_locks: dict[str, Lock],
    local_locks: dict[str, Lock],
) -> bool:
    """Correct `remote_locks` where the remote lost history; False if the remote changed
    meanwhile."""
    both = [(lock, local_locks[name]) for name, lock in remote_locks.items() if name in local_locks]
    pairs = [(lock.revision, ours.revision) for lock, ours in both]
    current = {later for later, _ in descend(private, pairs)}
    for lock, ours in both:
        if lock.revision not in current:
            answer, remote_locks[lock.name] = restore_lost.put_back(
                places, private, lock, ours, must_push=False
            )
            if answer is PushOutcome.MOVED:
                return False
    return True


def swap(places: LockPlaces, new: Lock, expected: Lock | None, *, is_absent: bool = False) -> Lock:
    """Replace `expected` by `new` without reading first: the push compares.

    `is_absent`: the caller has just checked that this clone knows nothing of the lock. Raises
    LockMovedError, UnknownError, GhpError.
    """
    with scratch(places.ws, places.repository) as private:
        before = NOTHING if is_absent else commit_chain.known(places.repository, new.name)
        active = None if before.lock and before.lock.is_at_end else before.lock
        if not _can_begin(private, active, expected):
            current = read(places, new.name)
            if revision(current) != revision(expected):
                raise LockMovedError(new.name, current)
        if new.holder and active:  # newer than `expected` if another remote decided before
            new = new._replace(generation=max(new.generation, active.generation + 1))
        created = commit_chain.append(places.repository, new, expected, places.ws.clock.now())
        _push(places, private, created, expected)
    is_newest = commit_chain.newest([before.lock, created]) is created
    git_local.remember(places.ws, places.repository, created, before.here if is_newest else None)
    return created


def swap_all(places: LockPlaces, pairs: Sequence[tuple[Lock, Lock]]) -> list[Lock | None]:
    """Replace locks by new values, by one push if none has moved; None for each that has.

    Raises UnknownError, GhpError.
    """
    now = places.ws.clock.now()
    with scratch(places.ws, places.repository) as private:
        if not all(_can_begin(private, None, expected) for _, expected in pairs):
            return [_swap_one(places, new, expected) for new, expected in pairs]
        created = [
            commit_chain.append(places.repository, new, expected, now) for new, expected in pairs
        ]
        refs = [LEASE_REFS + new.name for new in created]
        refspecs = [f"{new.revision}:{ref}" for new, ref in zip(created, refs, strict=True)]
        compared = {ref: revision(expected) for ref, (_, expected) in zip(refs, pairs, strict=True)}
        pushed = push(places.ws, private, places.remote, refspecs, expected=compared)
    if pushed.answer is not PushOutcome.DONE:
        return [_swap_one(places, new, expected) for new, expected in pairs]
    for new in created:
        git_local.remember(places.ws, places.repository, new)
    return [*created]


def _swap_one(places: LockPlaces, new: Lock, expected: Lock) -> Lock | None:
    """`swap`, where a push of the same value may have happened; None: the lock has moved."""
    current = read(places, new.name)
    if current and current.nonce == new.nonce:
        return current
    if revision(current) != revision(expected):
        return None
    try:
        return swap(places, new, expected)
    except LockMovedError:
        return None


def _read(places: LockPlaces, name: str, *, must_push: bool) -> _Found:
    with scratch(places.ws, places.repository) as private:
        for _ in range(ATTEMPTS):
            theirs = _fetch(places, private, name)
            if theirs:
                ours = commit_chain.known_here(places.repository, name) or theirs
                answer, current = restore_lost.put_back(
                    places, private, theirs, ours, must_push=must_push
                )
                if answer is PushOutcome.MOVED:
                    continue
                git_local.remember(places.ws, places.repository, current)
                return _Found(current, current.revision != theirs.revision)
            local = git_local.read(places.repository, name)
            if local is None or local.is_at_end:
                return _Found(None)
            answer, (current,) = _carry_over(places, private, [local], must_push=must_push)
            if answer is not PushOutcome.MOVED:
                return _Found(current, is_restored=True)
    raise unreachable(places.remote, f"{name} kept changing while it was read")


def _fetch(places: LockPlaces, private: StateRepository, name: str) -> Lock | None:
    for space in places.spaces:
        ref = _FOUND[space] + name
        if fetch_refs(places.ws, private, places.remote, [f"+{space}lease/{name}:{ref}"]):
            return commit_chain.load(private, name, [ref], where=places.remote.name)[0]
    return None


def _can_begin(private: StateRepository, active: Lock | None, expected: Lock | None) -> bool:
    """Whether the new value can be created here: its parent must be present, and a known lock must
    not start again."""
    if expected is None:
        return active is None
    with private.objects() as reader:
        return reader.read([expected.revision])[0] is not None


def _push(places: LockPlaces, private: StateRepository, new: Lock, expected: Lock | None) -> None:
    """Push until the outcome is known. Pushing the same commit again does not acquire it twice."""
    ref = LEASE_REFS + new.name
    refspecs, compared = [f"{new.revision}:{ref}"], {ref: revision(expected)}
    doubts = 0
    for _ in range(ATTEMPTS):
        pushed = push(places.ws, private, places.remote, refspecs, expected=compared)
        if pushed.answer is PushOutcome.DONE:
            return
        if pushed.answer is PushOutcome.REFUSED:
            raise refused(places, [new], pushed)
        doubts += pushed.answer is PushOutcome.UNKNOWN and not pushed.is_unsent
        # Moved, or the connection broke, perhaps after the push: read the ref to find out.
        places = places._replace(remote=coordination_remote(places.ws) or places.remote)
        try:
            current = _read(places, new.name, must_push=True).lock
        except UnknownError:
            if doubts:
                break
            raise
        if current and current.nonce == new.nonce:
            return
        if revision(current) != revision(expected):
            raise LockMovedError(new.name, current)
        if doubts > 1:
            break
    raise (_ambiguous(places, new, pushed) if doubts else unreachable(places.remote, pushed.words))


def _carry_over(
    places: LockPlaces, private: StateRepository, lost: Sequence[Lock], *, must_push: bool = False
) -> tuple[PushOutcome, list[Lock]]:
    """Push locks that the remote lost, or that were acquired before it existed, so that generations
    continue. Returns MOVED if the remote got one of them meanwhile, and the current locks."""
    if not lost:
        return PushOutcome.DONE, []
    locks, notes = restore_lost.forgotten(places, private, lost)
    refs = [LEASE_REFS + lock.name for lock in locks]
    refspecs = [f"{lock.revision}:{ref}" for lock, ref in zip(locks, refs, strict=True)]
    pushed = push(places.ws, private, places.remote, refspecs, expected=dict.fromkeys(refs, ""))
    places.check(pushed, locks, must_push=must_push)
    if pushed.answer is PushOutcome.DONE:
        for note in notes:
            places.tell(note)
    return pushed.answer, locks


def _ambiguous(places: LockPlaces, new: Lock, pushed: Pushed) -> LostAnswerError:
    name = places.remote.name
    return LostAnswerError(
        f"The connection to {name} broke while {new.name} was being changed; the change may or "
        f"may not have happened: {pushed.words}",
        hint=f"Run the command again when {name} is reachable: it finds out what happened.",
    )
