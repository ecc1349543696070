"""What becomes of a right that the remote has in an older state, or not at all: its generation must
not fall. Pure.

A remote that was restored from a backup forgets, and so does one that lost a ref. What a clone
knows goes back if the remote's is older. If both went on, a person decides: until then nobody has
it.
"""

from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import DISPUTE, Cause


def joined(found: Lock, known: Lock, nonce: str, clone: str) -> Lock | None:
    """The right after two chains, the remote's (`found`) and ours, which went on from one state or
    from none; None if the remote's stands as it is."""
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
    """A right that is gone from the remote, where another clone recorded a later generation than
    this one knows: nobody has it until that clone puts it back, or a person frees it."""
    reason = (
        f"the remote lost it; another clone recorded generation {recorded}, and this one knows "
        f"only {known.generation}"
    )
    return disputed(known, recorded, nonce, reason, Cause(DISPUTE), clone)


def disputed(
    before: Lock, generation: int, nonce: str, reason: str, cause: Cause, clone: str
) -> Lock:
    """A right that nobody has and nobody can take until a person has released it."""
    return before._replace(
        holder=None, generation=generation, nonce=nonce, reason=reason, patterns=before.patterns,
        cause=cause, clone=clone, until=None, revision=nonce,
    )  # fmt: skip
