"""Which handoff holds the work of an issue: one rule for all who continue it, or show it.

A handoff of a dead or stopped agent that was written in another clone than its own has what that
clone knew, which may be nothing. It never hides one that stores the work.
"""

import re
from collections.abc import Iterable, Sequence

from ghp_agents.core.ids import Actor
from ghp_agents.handoffs import record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Snapshot

FROM_RECORDS = "This handoff was written for it, from its records."
_LIFE = re.compile(r"(\S{1,63}) claimed this at (\S{1,40}) \(generation [0-9]{1,16}\) and ")


def life(lock: Lock) -> str:
    """How a note names the claim of an agent; unique for it. Stored notes are compared with it, so
    its wording must not change."""
    return f"{lock.holder} claimed this at {lock.acquired_at} (generation {lock.generation})"


def is_about(handoff: Handoff, lock: Lock) -> bool:
    """Whether a handoff has work of the claim's holder, as far as it was known then."""
    agent, since = lock.holder or "", str(lock.acquired_at)
    return _is_own(handoff, agent, since) or life(lock) in handoff.note


def stores(handoff: Handoff) -> bool:
    """Whether it stores uncommitted work, or commits."""
    return bool(handoff.commits or (handoff.work and handoff.work.size))


def is_bare(handoff: Handoff) -> bool:
    """Whether it was written from records alone, and stores nothing."""
    return FROM_RECORDS in handoff.note and not stores(handoff)


def of_issue(snapshot: Snapshot, numbers: Iterable[int]) -> Handoff | None:
    """Return the handoff that holds the work of an issue, which may have several numbers."""
    folders = [snapshot.files(record.folder_of(number)) for number in numbers]
    files = {path: data for folder in folders for path, data in folder.items()}
    return latest(record.read_handoffs(files)[0])


def latest(handoffs: Sequence[Handoff]) -> Handoff | None:
    """Return the handoff that holds the work, of the `handoffs` of an issue, the oldest first: the
    last one, unless that is bare. Then it is the last of the same claim, or, if the bare one names
    no commit, the last before it."""
    for at in reversed(range(len(handoffs))):
        last = handoffs[at]
        if not is_bare(last):
            return last
        same = [x for x in handoffs if not is_bare(x) and _is_of_life(x, last)]
        if same:
            return same[-1]
        if last.head:
            return last
    return handoffs[-1] if handoffs else None


def _is_of_life(handoff: Handoff, bare: Handoff) -> bool:
    """Whether a handoff is by or about the agent of a bare one, in the same claim."""
    claim = _LIFE.search(bare.note)
    if claim is None:
        return False
    return claim[0].removesuffix(" and ") in handoff.note or _is_own(handoff, claim[1], claim[2])


def _is_own(handoff: Handoff, agent: str, since: str) -> bool:
    return handoff.by == Actor(agent) and str(handoff.at) >= since
