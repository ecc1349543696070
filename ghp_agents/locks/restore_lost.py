"""A remote that was restored, or lost a ref: what this clone knows of its rights goes back."""

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
    court: LockPlaces, private: StateRepository, found: Lock, known: Lock, *, must_push: bool
) -> tuple[PushOutcome, Lock]:
    """Put the right on the remote as it must be; MOVED if somebody was faster. `found` is the
    remote's, and DONE comes with it where it stands."""
    stands = found.revision == known.revision or known.is_at_end
    if stands or descend(private, [(found.revision, known.revision)]):
        return PushOutcome.DONE, found
    if descend(private, [(known.revision, found.revision)]):
        answer = _put(court, private, known, found, must_push=must_push)
        if answer is PushOutcome.DONE:
            court.tell(
                f"{court.remote.name} had an older state of the right {known.name} (generation "
                f"{found.generation}); it has generation {known.generation} again."
            )
        return answer, known
    return _join(court, private, found, known, must_push=must_push)


def _join(
    court: LockPlaces, private: StateRepository, found: Lock, known: Lock, *, must_push: bool
) -> tuple[PushOutcome, Lock]:
    """Two chains become one. A right that is held for moments needs no decision."""
    is_one_of_many = found.name.partition("/")[0] in KINDS
    clone = court.repository.clone
    right = lost_lock.joined(found, known, random_hex(16), clone) if is_one_of_many else None
    if right is None or _is_decided(private, found, known):
        return PushOutcome.DONE, found
    is_ours = right.holder is not None
    parents = (known, found) if is_ours else (found, known)
    made = commit_chain.append(private, right, parents[0], court.ws.clock.now(), parents[1])
    answer = _put(court, private, made, found, must_push=must_push)
    if answer is PushOutcome.DONE:
        then = f"{made.holder} has it" if is_ours else "a person has to decide who has it"
        court.tell(f"{court.remote.name} lost history of the right {made.name}: {then}.")
    return answer, made


def _is_decided(private: StateRepository, found: Lock, known: Lock) -> bool:
    """Whether somebody has the right since a person decided about all that is known here."""
    if found.holder is None:
        return False
    past = commit_chain.history(private, found)
    return any(x.is_disputed and x.generation >= known.generation for x in past)


def forgotten(
    court: LockPlaces, private: StateRepository, known: Sequence[Lock]
) -> tuple[list[Lock], list[str]]:
    """What to put in the place of rights that are gone from the remote: they themselves, where no
    clone recorded a later generation there; and what people should know of it."""
    recorded = _recorded(court, private)
    rights: list[Lock] = []
    notes: list[str] = []
    for lease in known:
        highest = recorded.get(claimed_issue(lease.name) or 0, 0)
        if highest > lease.generation:
            clone = court.repository.clone
            lost = lost_lock.forgotten(lease, highest, random_hex(16), clone)
            lease = commit_chain.append(private, lost, lease, court.ws.clock.now())
        if highest:
            notes.append(
                f"{court.remote.name} lost the right {lease.name}; it is there again, with "
                f"generation {lease.generation}."
            )
        rights.append(lease)
    return rights, notes


def _recorded(court: LockPlaces, private: StateRepository) -> dict[int, int]:
    """The highest generation of the claim of each issue that any clone on the remote recorded."""
    refspecs = [f"+{space}clone/*:{_CLONES}*" for space in court.spaces]
    for refspec in refspecs:
        fetch_refs(court.ws, private, court.remote, [refspec])
    args = ["log", f"--glob={_CLONES}*", "--grep=^Generation: ", f"--format={_ENTRY}"]
    highest: dict[int, int] = {}
    with contextlib.suppress(git.GitError):
        for line in private.check(*args).text.splitlines():
            issue, _, generation = line.partition(" ")
            if issue.isdigit() and generation.isdigit():
                highest[int(issue)] = max(int(generation), highest.get(int(issue), 0))
    return highest


def _put(
    court: LockPlaces, private: StateRepository, right: Lock, found: Lock, *, must_push: bool
) -> PushOutcome:
    ref = LEASE_REFS + right.name
    pushed = push(
        court.ws, private, court.remote, [f"{right.revision}:{ref}"],
        expected={ref: found.revision},
    )  # fmt: skip
    court.check(pushed, [right], must_push=must_push)
    if pushed.answer is PushOutcome.DONE:
        git_local.remember(court.ws, court.repository, right)
    return pushed.answer
