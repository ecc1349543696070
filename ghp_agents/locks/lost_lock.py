"""Decides what happens to a lock of which the remote has an older value or none. Pure functions.

A remote restored from a backup has old values; another may have lost refs. Generations must not
fall. If only the remote's value is older, this clone's value is restored. If both changed, a person
decides, and until then nobody holds the lock.
"""

from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import AGENTS
from ghp_agents.state.cause import DISPUTE, Cause


def joined(theirs: Lock, ours: Lock, nonce: str, clone: str) -> Lock | None:
    """The lock after the remote's chain (`theirs`) and ours diverged; None if the remote's value
    stays."""
    generation = max(theirs.generation, ours.generation) + 1
    if ours.holder is None or ours.name.startswith(AGENTS):  # an agent's next life takes its name
        return None
    if theirs.holder is None:  # also a dispute, which this clone can settle
        is_later = ours.generation >= theirs.generation
        return ours._replace(generation=generation) if is_later else None
    if (theirs.holder, theirs.clone) == (ours.holder, ours.clone):
        return None
    reason = (
        f"the remote lost its history: {ours.holder} (generation {ours.generation}) and "
        f"{theirs.holder} (generation {theirs.generation}) have it"
    )
    return disputed(theirs, generation, nonce, reason, Cause(DISPUTE, ours.holder), clone)


def forgotten(ours: Lock, recorded: int, nonce: str, clone: str) -> Lock:
    """A lock that the remote lost, while another clone recorded a later generation than this one.
    Nobody holds it until that clone restores it, or a person releases it."""
    reason = (
        f"the remote lost it; another clone recorded generation {recorded}, and this one knows "
        f"only {ours.generation}"
    )
    return disputed(ours, recorded, nonce, reason, Cause(DISPUTE), clone)


def disputed(
    before: Lock, generation: int, nonce: str, reason: str, cause: Cause, clone: str
) -> Lock:
    """A lock that nobody holds, and nobody can acquire until a person has released it."""
    return before._replace(
        holder=None, generation=generation, nonce=nonce, reason=reason, patterns=before.patterns,
        cause=cause, clone=clone, until=None, revision=nonce,
    )  # fmt: skip
