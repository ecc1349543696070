"""Handoffs that this clone does not have yet, of a claim that it has: locks are read at once,
records only by a sync."""

import re
from collections.abc import Callable

from ghp_agents.core.clock import to_seconds
from ghp_agents.handoffs import record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context

FETCH_S = 5.0  # seconds that one who continues waits for records that may not exist
LATE = "{}, which gave you #{}, is not here yet. Run `ghp agent-sync`, and then this again."
_NAME = re.compile(r"handed over in (H-[0-9a-f]{8,64})$")


def reason(handoff: Handoff) -> str:
    """Return why the claim and the leases of a handoff change their holder."""
    return f"handed over in {handoff.name}"


def for_issue(ctx: Context, number: int, tell: Callable[[str], None]) -> bool:
    """Fetch the handoffs that the last known claim of an issue builds on; returns whether this
    clone may have lacked some. If it still lacks the one that the claim names, `tell` gets a
    sentence."""
    lock = ctx.world.claim_locks.get(number)
    if lock is None or not (missing(ctx, lock) or _is_behind(ctx, lock)):
        return False
    if late := fetch(ctx, lock):
        tell(LATE.format(late, number))
    return True


def fetch(ctx: Context, lock: Lock) -> str:
    """Fetch the handoff by which an agent got a claim, if this clone lacks it, and those of former
    holders. Returns the name of the first if it is still not here, else nothing."""
    if missing(ctx, lock) and ctx.store.remote():
        ctx.store.sync(push=False)
        return missing(ctx, lock)
    if _is_behind(ctx, lock):
        ctx.store.hear(FETCH_S)
    return ""


def _is_behind(ctx: Context, lock: Lock) -> bool:
    """Whether somebody held the issue before, and this clone has no news since the claim."""
    status = ctx.store.sync_status()
    if status.remote is None or lock.generation == 1:
        return False
    return status.news_at is None or int(status.news_at) <= to_seconds(lock.acquired_at)


def missing(ctx: Context, lock: Lock) -> str:
    """Return the name of the handoff by which an agent got a claim, if it is not here."""
    named = _NAME.search(lock.reason)
    if named is None:
        return ""
    paths = ctx.store.snapshot().files(record.folder_of(claimed_issue(lock.name)))
    ident = named[1].removeprefix("H-")
    return "" if any(path.endswith(f"-{ident}.md") for path in paths) else named[1]
