"""Strict leases: locks on paths over all clones. Paths can overlap although lock names differ.

A compare-and-swap decides who holds one lock, but two locks may cover the same file. So a
requester writes its lock first and then looks for others. Of two that see each other, at least one
gives way. One that sees nobody after writing is alone. The lower nonce retries longer, so that
they do not both give way forever.
"""

from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.leases import second_look
from ghp_agents.leases.coverage import Coverage
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.world import NAMES, PATHS, as_hold
from ghp_agents.locks.lock import Lock, Release
from ghp_agents.locks.swap import LockView, swap
from ghp_agents.ports import Context, LockService

LOOKS = 5  # waiting for rivals to give way
PAUSE = 0.3  # seconds between two looks


class Asker(NamedTuple):
    """The requester of a lock, and what it is to lock."""

    actor: Actor
    epoch: int
    clone: str
    reach: Coverage
    reason: str = ""
    until: Timestamp | None = None  # the time of its end
    past: Container[str] = ()  # the nonces of expired locks


class RivalError(RefusedError):
    """Another holds a lock on part of it."""

    kind = "held"  # of the conflict

    def __init__(self, hold: Hold) -> None:
        self.hold = hold
        super().__init__(
            f"{named(hold.holder, hold.is_person)} has held a strict lease on it since "
            f"{when(hold.since)}.",
            hint="Work on something else, or wait for it with `--wait`.",
        )


class DoubtError(RivalError):
    """The holder looks dead, and a second look must confirm that."""

    kind = "doubted"


def lock_name(patterns: Sequence[str], name: str | None) -> str:
    """The name of the lock for patterns or for a resource."""
    return f"{NAMES}{name}" if name is not None else f"{PATHS}{digest(*patterns)}"


def take_lock(ctx: Context, who: Asker) -> Lock:
    """Acquire the lock for `who.reach`, so that nobody else holds a lock on any of it.

    Raises RivalError, UnknownError; then the lock was released or never acquired."""
    name = lock_name(who.reach.patterns, who.reach.name)
    is_resource = who.reach.name is not None
    locks = {lock.name: lock for lock in ctx.locks.list(name if is_resource else PATHS)}
    _refuse(_overlapping(ctx, locks.values(), who)[0])
    seen = LockView(ctx.locks, name, locks.get(name), is_sure=True)
    got = swap(seen, partial(_take, ctx, who))
    return got if is_resource else _alone(ctx, got, who)


def _take(ctx: Context, who: Asker, seen: LockView) -> Lock:
    current = seen.lock
    mine = current and is_mine(current, who.actor.name, who.epoch, who.clone)
    if current and mine and current.until == who.until:
        return current  # already ours: an earlier process was killed half-way
    _refuse(_overlapping(ctx, [current] if current else [], who)[0])
    return ctx.locks.acquire(
        seen.name, who.actor.name, expected=current, epoch=who.epoch, reason=who.reason,
        patterns=who.reach.patterns, clone=who.clone, until=who.until,
    )  # fmt: skip


def _alone(ctx: Context, got: Lock, who: Asker) -> Lock:
    """Return the lock once no other holder's patterns overlap."""
    for _ in range(LOOKS):
        others = [lock for lock in ctx.locks.list(PATHS) if lock.name != got.name]
        try:
            rivals, expired = _overlapping(ctx, others, who)
        except DoubtError:
            give_back(ctx.locks, got, "another holder may still be alive")
            raise
        if not rivals:
            for lock in expired:  # its holder must not find it held if it comes back
                give_back(ctx.locks, lock, f"lapsed: {got.holder} has taken it")
            return got
        if any(lock.nonce < got.nonce for lock in rivals):
            break
        ctx.ws.clock.wait(PAUSE)
    give_back(ctx.locks, got, "another came at the same time")
    raise RivalError(as_hold(rivals[0]))


def give_back(locks: LockService, lock: Lock, reason: str) -> None:
    """Release a lock, unless another has taken it meanwhile."""
    locks.release_all([Release(lock, reason)])


def _overlapping(ctx: Context, locks: Iterable[Lock], who: Asker) -> tuple[list[Lock], list[Lock]]:
    """The locks of others that overlap its reach: those in force, and those that are not."""
    overlapping = [
        lock
        for lock in locks
        if lock.is_taken and who.reach.meets_other(as_hold(lock), who.actor, who.clone)
    ]
    holders = holder_liveness.holders_of(ctx, overlapping) if overlapping else {}
    present = [lock for lock in overlapping if lock.nonce not in who.past]
    living = [x for x in present if x.is_disputed or holders[x.name].lives]
    doubted = {x.name: (x, holders[x.name]) for x in present if x.name in holders}
    unsure = second_look.unconfirmed(ctx, doubted) if doubted else []
    if unsure and not living:
        raise DoubtError(as_hold(unsure[0]))
    return living, [lock for lock in overlapping if lock not in living]


def _refuse(rivals: Sequence[Lock]) -> None:
    if rivals:
        raise RivalError(as_hold(rivals[0]))
