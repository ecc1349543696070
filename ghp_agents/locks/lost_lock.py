"""Decides what happens to a lock of which the remote has an older value or none. Pure functions.

A remote restored from a backup has old values; another may have lost refs. Generations must not
fall. If only the remote's value is older, this clone's value is restored. If both changed, a person
decides, and until then nobody holds the lock.
"""

from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import DISPUTE, Cause


def joined(found: Lock, known: Lock, nonce: str, clone: str) -> Lock | None:
    """The lock after the remote's chain (`found`) and ours diverged; None if the remote's value
    stays."""
    generation = max(found.generation, known.generation) + 1
    if known.holder is None:
        return None
    if found.holder is None:  # also a dispute, which this clone can settle
        is_later = known.generation >= found.generation
        return known._replace(generation=generation) if is_later else None
    if (found.holder, found.clone) == (known.holder, known.clone):
        return None
    reason = (
        f"the remote lost its history: {known.holder} (generation {known.generation}) and "
        f"{found.holder} (generation {found.generation}) have it"
    )
    return disputed(found, generation, nonce, reason, Cause(DISPUTE, known.holder), clone)


def forgotten(known: Lock, recorded: int, nonce: str, clone: str) -> Lock:
    """A lock that the remote lost, while another clone recorded a later generation than this one.
    Nobody holds it until that clone restores it, or a person releases it."""
    reason = (
        f"the remote lost it; another clone recorded generation {recorded}, and this one knows "
        f"only {known.generation}"
    )
    return disputed(known, recorded, nonce, reason, Cause(DISPUTE), clone)


def disputed(
    before: Lock, generation: int, nonce: str, reason: str, cause: Cause, clone: str
) -> Lock:
    """A lock that nobody holds, and nobody can acquire until a person has released it."""
    return before._replace(
        holder=None, generation=generation, nonce=nonce, reason=reason, patterns=before.patterns,
        cause=cause, clone=clone, until=None, revision=nonce,
    )  # fmt: skip
