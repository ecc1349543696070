"""Rights that the coordination remote decides: one push is one compare-and-swap."""

from collections.abc import Sequence

from ghp_agents.core.errors import UnknownError
from ghp_agents.locks import commit_chain, git_local, restore_lost
from ghp_agents.locks.lock import Lock, LockMovedError, revision
from ghp_agents.locks.lock_refs import LockPlaces, refused
from ghp_agents.locks.scratch_repo import SPACE, scratch
from ghp_agents.state.private_repo import LEASE_REFS, StateRepository, descend
from ghp_agents.state.remote import (
    BRANCHES,
    CUSTOM,
    Pushed,
    PushOutcome,
    coordination_remote,
    fetch_refs,
    push,
    unreachable,
)

NOTHING = commit_chain.KnownLock(None, "")
ATTEMPTS = 4  # each after the first only because something came between
# Where a fetch puts what it finds in each of the two places that a remote may have our refs in.
_FOUND = {CUSTOM: f"{SPACE}custom/", BRANCHES: f"{SPACE}branches/"}


def read(court: LockPlaces, name: str) -> Lock | None:
    """The lease as the remote has it now. Raises UnknownError, GhpError."""
    return _read(court, name, must_push=False)


def history(court: LockPlaces, name: str) -> list[Lock]:
    """Every lease that the right has had, by the remote. Raises UnknownError, GhpError."""
    last = read(court, name)
    return commit_chain.history(court.repository, last) if last else []


def list_all(court: LockPlaces, folder: str) -> list[Lock]:
    """The leases below `folder` (`issue/`, or empty for all) as the remote has them now."""
    refspecs = [f"+{space}lease/{folder}*:{_FOUND[space]}{folder}*" for space in court.spaces]
    with scratch(court.ws, court.repository) as private:
        for _ in range(ATTEMPTS):
            fetch_refs(court.ws, private, court.remote, refspecs)
            found = commit_chain.load_all(private, [_FOUND[space] for space in court.spaces])
            known = git_local.list_all(court.repository)
            if not _mend_all(court, private, found, known):
                continue
            missing = [
                x
                for x in known.values()
                if x.name.startswith(folder) and x.name not in found and not x.is_at_end
            ]
            answer, missing = _carry_over(court, private, missing)
            if answer is not PushOutcome.MOVED:
                return [*found.values(), *missing]
    raise unreachable(court.remote, "the rights changed again and again while they were listed")


def _mend_all(
    court: LockPlaces,
    private: StateRepository,
    found: dict[str, Lock],
    known: dict[str, Lock],
) -> bool:
    """Put in `found` what the rights must be where the remote lost history; False if it moved."""
    both = [(lease, known[name]) for name, lease in found.items() if name in known]
    pairs = [(lease.revision, had.revision) for lease, had in both]
    right = {later for later, _ in descend(private, pairs)}
    for lease, had in both:
        if lease.revision not in right:
            answer, found[lease.name] = restore_lost.put_back(
                court, private, lease, had, must_push=False
            )
            if answer is PushOutcome.MOVED:
                return False
    return True


def swap(court: LockPlaces, new: Lock, expected: Lock | None, *, is_absent: bool = False) -> Lock:
    """Put `new` in the place of `expected`, asking nobody before: the push compares.

    `is_absent` says that the caller has just looked, and this clone knows nothing of the right.
    Raises LeaseMovedError, UnknownError, GhpError.
    """
    with scratch(court.ws, court.repository) as private:
        before = NOTHING if is_absent else commit_chain.known(court.repository, new.name)
        known = None if before.lease and before.lease.is_at_end else before.lease
        if not _can_begin(private, known, expected):
            current = read(court, new.name)
            if revision(current) != revision(expected):
                raise LockMovedError(new.name, current)
        if new.holder and known:  # newer than `expected` where another remote decided before
            new = new._replace(generation=max(new.generation, known.generation + 1))
        made = commit_chain.append(private, new, expected, court.ws.clock.now())
        _push(court, private, made, expected)
    is_newest = commit_chain.newest([before.lease, made]) is made
    git_local.remember(court.ws, court.repository, made, before.here if is_newest else None)
    return made


def _read(court: LockPlaces, name: str, *, must_push: bool) -> Lock | None:
    with scratch(court.ws, court.repository) as private:
        for _ in range(ATTEMPTS):
            found = _fetch(court, private, name)
            if found:
                had = commit_chain.known_here(court.repository, name) or found
                answer, right = restore_lost.put_back(
                    court, private, found, had, must_push=must_push
                )
                if answer is PushOutcome.MOVED:
                    continue
                git_local.remember(court.ws, court.repository, right)
                return right
            known = git_local.read(court.repository, name)
            if known is None or known.is_at_end:
                return None
            answer, (right,) = _carry_over(court, private, [known], must_push=must_push)
            if answer is not PushOutcome.MOVED:
                return right
    raise unreachable(court.remote, f"{name} changed again and again while it was read")


def _fetch(court: LockPlaces, private: StateRepository, name: str) -> Lock | None:
    for space in court.spaces:
        ref = _FOUND[space] + name
        if fetch_refs(court.ws, private, court.remote, [f"+{space}lease/{name}:{ref}"]):
            return commit_chain.load(private, name, [ref], where=court.remote.name)[0]
    return None


def _can_begin(private: StateRepository, known: Lock | None, expected: Lock | None) -> bool:
    """Whether the new lease can be made from what is here: its parent must be at hand, and a
    right that is known must not be begun anew."""
    if expected is None:
        return known is None
    with private.objects() as reader:
        return reader.read([expected.revision])[0] is not None


def _push(court: LockPlaces, private: StateRepository, made: Lock, expected: Lock | None) -> None:
    """Push until it is known what came of it; the same commit again is no second acquisition."""
    ref = LEASE_REFS + made.name
    refspecs, compared = [f"{made.revision}:{ref}"], {ref: revision(expected)}
    doubts = 0
    for _ in range(ATTEMPTS):
        pushed = push(court.ws, private, court.remote, refspecs, expected=compared)
        if pushed.answer is PushOutcome.DONE:
            return
        if pushed.answer is PushOutcome.REFUSED:
            raise refused(court, [made], pushed)
        doubts += pushed.answer is PushOutcome.UNKNOWN
        # Moved, or the connection broke, perhaps after the push: the ref itself tells the truth.
        court = court._replace(remote=coordination_remote(court.ws) or court.remote)
        try:
            current = _read(court, made.name, must_push=True)
        except UnknownError:
            if doubts:
                break
            raise
        if current and current.nonce == made.nonce:
            return
        if revision(current) != revision(expected):
            raise LockMovedError(made.name, current)
        if doubts > 1:
            break
    raise _ambiguous(court, made, pushed) if doubts else unreachable(court.remote, pushed.words)


def _carry_over(
    court: LockPlaces, private: StateRepository, known: Sequence[Lock], *, must_push: bool = False
) -> tuple[PushOutcome, list[Lock]]:
    """Give the remote what was decided before it was there, or what it lost, so that generations
    go on; MOVED if it came to know one of them meanwhile. With it, the rights as they are then."""
    if not known:
        return PushOutcome.DONE, []
    rights, notes = restore_lost.forgotten(court, private, known)
    refs = [LEASE_REFS + lease.name for lease in rights]
    refspecs = [f"{lease.revision}:{ref}" for lease, ref in zip(rights, refs, strict=True)]
    pushed = push(court.ws, private, court.remote, refspecs, expected=dict.fromkeys(refs, ""))
    court.check(pushed, rights, must_push=must_push)
    if pushed.answer is PushOutcome.DONE:
        for note in notes:
            court.tell(note)
    return pushed.answer, rights


def _ambiguous(court: LockPlaces, made: Lock, pushed: Pushed) -> UnknownError:
    name, ref = court.remote.name, court.remote.ref(LEASE_REFS + made.name)
    return UnknownError(
        f"The connection to {name} broke while {made.name} was being changed, so that may or may "
        f"not have happened: {pushed.words}",
        hint=f"Run the command again when {name} can be reached. To look by hand: `git fetch "
        f"{name} {ref} && git show FETCH_HEAD:{commit_chain.FILE}`; it happened if the nonce there is "
        f"{made.nonce}.",
    )
