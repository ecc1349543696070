"""Restores locks on a remote that lost history or refs, from what this clone knows."""

import contextlib
from collections.abc import Sequence

from ghp_agents.core.files import random_hex
from ghp_agents.git import process as git
from ghp_agents.locks import commit_chain, git_local, lost_lock
from ghp_agents.locks.lock import KINDS, Lock
from ghp_agents.locks.lock_refs import LockPlaces
from ghp_agents.locks.names import claimed_issue
from ghp_agents.locks.scratch_repo import SPACE
from ghp_agents.state.private_repo import LEASE_REFS, StateRepository, descend
from ghp_agents.state.remote import PushOutcome, fetch_refs, push

_CLONES = f"{SPACE}clones/"
_VALUE = "%(trailers:key={},valueonly,separator=)"
_ENTRY = _VALUE.format("Issue") + " " + _VALUE.format("Generation")


def put_back(
    places: LockPlaces, private: StateRepository, theirs: Lock, ours: Lock, *, must_push: bool
) -> tuple[PushOutcome, Lock]:
    """Put the correct value of the lock on the remote; MOVED if it changed meanwhile. `theirs` is
    the remote's value, which is returned with DONE if it stays."""
    stands = theirs.revision == ours.revision or ours.is_at_end
    if stands or descend(private, [(theirs.revision, ours.revision)]):
        return PushOutcome.DONE, theirs
    if descend(private, [(ours.revision, theirs.revision)]):
        answer = _put(places, private, ours, theirs, must_push=must_push)
        if answer is PushOutcome.DONE:
            places.tell(
                f"{places.remote.name} had an older state of the lock {ours.name} (generation "
                f"{theirs.generation}); generation {ours.generation} is restored."
            )
        return answer, ours
    return _join(places, private, theirs, ours, must_push=must_push)


def _join(
    places: LockPlaces, private: StateRepository, theirs: Lock, ours: Lock, *, must_push: bool
) -> tuple[PushOutcome, Lock]:
    """Join two chains. For locks that are held only briefly the remote's value stays."""
    is_one_of_many = theirs.name.partition("/")[0] in KINDS
    clone = places.repository.clone
    lock = lost_lock.joined(theirs, ours, random_hex(16), clone) if is_one_of_many else None
    if lock is None or _is_decided(private, theirs, ours):
        return PushOutcome.DONE, theirs
    is_ours = lock.holder is not None
    parents = (ours, theirs) if is_ours else (theirs, ours)
    created = commit_chain.append(
        places.repository, lock, parents[0], places.ws.clock.now(), parents[1]
    )
    answer = _put(places, private, created, theirs, must_push=must_push)
    if answer is PushOutcome.DONE:
        then = f"{created.holder} holds it" if is_ours else "a person must decide who holds it"
        places.tell(f"{places.remote.name} lost history of the lock {created.name}: {then}.")
    return answer, created


def _is_decided(private: StateRepository, theirs: Lock, ours: Lock) -> bool:
    """Whether someone acquired the lock after a person decided about every value known here."""
    if theirs.holder is None:
        return False
    past = commit_chain.history(private, theirs)
    return any(x.is_disputed and x.generation >= ours.generation for x in past)


def forgotten(
    places: LockPlaces, private: StateRepository, missing: Sequence[Lock]
) -> tuple[list[Lock], list[str]]:
    """What to restore for locks that the remote lost, and messages for people. Each is restored as
    known here, unless a clone recorded a later generation there."""
    recorded = _recorded(places, private)
    locks: list[Lock] = []
    notes: list[str] = []
    for lock in missing:
        highest = recorded.get(claimed_issue(lock.name) or 0, 0)
        if highest > lock.generation:
            clone = places.repository.clone
            lost = lost_lock.forgotten(lock, highest, random_hex(16), clone)
            lock = commit_chain.append(places.repository, lost, lock, places.ws.clock.now())
        if highest:
            notes.append(
                f"{places.remote.name} lost the lock {lock.name}; generation "
                f"{lock.generation} is restored."
            )
        locks.append(lock)
    return locks, notes


def _recorded(places: LockPlaces, private: StateRepository) -> dict[int, int]:
    """The highest claim generation of each issue that any clone on the remote recorded."""
    refspecs = [f"+{space}clone/*:{_CLONES}*" for space in places.spaces]
    for refspec in refspecs:
        fetch_refs(places.ws, private, places.remote, [refspec])
    args = ["log", f"--glob={_CLONES}*", "--grep=^Generation: ", f"--format={_ENTRY}"]
    highest: dict[int, int] = {}
    with contextlib.suppress(git.GitError):
        for line in private.check(*args).text.splitlines():
            issue, _, generation = line.partition(" ")
            if issue.isdigit() and generation.isdigit():
                highest[int(issue)] = max(int(generation), highest.get(int(issue), 0))
    return highest


def _put(
    places: LockPlaces, private: StateRepository, lock: Lock, theirs: Lock, *, must_push: bool
) -> PushOutcome:
    ref = LEASE_REFS + lock.name
    pushed = push(
        places.ws, private, places.remote, [f"{lock.revision}:{ref}"],
        expected={ref: theirs.revision},
    )  # fmt: skip
    places.check(pushed, [lock], must_push=must_push)
    if pushed.answer is PushOutcome.DONE:
        git_local.remember(places.ws, places.repository, lock)
    return pushed.answer
