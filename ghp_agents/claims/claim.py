"""A claim: the lock on an issue, who may take it, and who was replaced. Pure, light to load."""

from typing import Literal

from ghp_agents.hotpath.lost_claim import LostClaim, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.locks.lock import Lock

ClaimStatus = Literal["free", "mine", "lapsed", "held", "disputed"]


def is_mine(lock: "Lock", holder: str, epoch: int, clone: str) -> bool:
    """Whether `holder` holds the lock; `epoch` is the holder's, 0 for a person.

    An agent is identified by name, epoch and clone: an agent in a copy of the clone holds none of
    the original's locks. A restarted agent has a higher epoch and keeps its locks. A person is the
    same in every clone. A lock without a clone was written by an older version.
    """
    if lock.holder != holder:
        return False
    if epoch == 0 or lock.epoch == 0:
        return lock.epoch == epoch
    return lock.epoch <= epoch and not is_elsewhere(lock, clone)


def is_elsewhere(lock: "Lock", clone: str) -> bool:
    """Whether an agent of another clone than `clone` holds the lock."""
    return lock.epoch > 0 and bool(lock.clone and clone) and lock.clone != clone


def standing(
    lock: "Lock | None", holder: str, epoch: int, clone: str, *, lives: bool
) -> ClaimStatus:
    """The status of a lock for `holder`; `lives` says whether its current holder is alive.

    A person's lock never lapses: silence says nothing about a person.
    """
    if lock and lock.is_disputed:
        return "disputed"
    if lock is None or lock.holder is None:
        return "free"
    if is_mine(lock, holder, epoch, clone):
        return "mine"
    return "held" if lives or lock.is_person else "lapsed"


def fence_of(
    locks: "Mapping[int, Lock]", agent: str, presence: "Mapping[str, Any]", clone: str
) -> LostClaim | None:
    """The lost claim if `agent` in `clone` was replaced as holder of its current issue, else None.

    Its presence has the generation of its claim. Without one, the agent never claimed the issue
    and is not fenced.
    """
    issue, generation = presence.get("issue"), presence.get("generation")
    if type(issue) is not int or type(generation) is not int:
        return None
    lock = locks.get(issue)
    if lock is None or lock.generation < generation:
        return None
    epoch = presence.get("epoch")
    epoch = epoch if type(epoch) is int else 0
    if is_mine(lock, agent, epoch, clone):
        return None
    is_own = lock.generation == generation
    reason = reason_of(lock.holder, lock.cause.kind, lock.reason, is_own=is_own)
    claims = locks.items()
    others = [(x.acquired_at, n) for n, x in claims if is_mine(x, agent, epoch, clone)]
    return LostClaim(
        issue, lock.holder, lock.is_person, lock.acquired_at, lock.generation, reason,
        lock.cause.kind, lock.holder == agent and is_elsewhere(lock, clone),
        max(others, default=("", 0))[1],
    )  # fmt: skip
