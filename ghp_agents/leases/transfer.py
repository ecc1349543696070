"""Moves the leases of an agent to another one, in one step: nobody else can get in between."""

from ghp_agents.claims.holder_liveness import life_of
from ghp_agents.core.clock import to_text
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.leases import record
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.leases.service import ended
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact


def transfer(ctx: Context, holder: str, to: str, reason: str) -> list[Hold]:
    """Give all leases of `holder` to `to`; returns them. A strict lease whose lock changed
    meanwhile stays as it is. Raises UnknownError."""
    world = LeaseWorld(ctx)
    epoch, clone = life_of(ctx, to)
    locks: dict[str, Lock] = {}
    active = [log for log in world.logs if log.holder == Actor(holder) and world.is_active(log)]
    for log in active:
        lock = world.strict_locks.get(log.request.right)
        if lock is not None:
            try:
                locks[log.id] = ctx.locks.acquire(
                    lock.name, to, expected=lock, epoch=epoch, reason=reason,
                    patterns=lock.patterns, clone=clone, until=lock.until,
                )  # fmt: skip
            except LockMovedError:
                continue
    leases = frozenset(log.id for log in active if not log.request.right or log.id in locks)
    if not leases:
        return []
    by, at = ctx.ws.actor(), Timestamp(to_text(ctx.ws.clock.now()))

    def decide(snapshot: Snapshot) -> tuple[list[Hold], list[Record]]:
        moved: list[Hold] = []
        records: list[Record] = []
        for log in record.read_leases(snapshot.present(record.FOLDER))[0]:
            lock = locks.get(log.id)
            if log.id not in leases or not log.is_open:
                continue
            end = ended(ctx.ws, snapshot, log, by, reason, len(records) + 1)
            lease = random_hex(6)
            request = log.request._replace(
                lease=lease, id=lease, clock=snapshot.clock + len(records) + 2,
                clone=snapshot.clone, at=at, by=by, holder=Actor(to), epoch=epoch, granted=True,
                until=log.until, nonce=lock.nonce if lock else "",
            )  # fmt: skip
            records += [end, record.entry(request, request)]
            moved.append(LeaseHistory(request, request, request.until).hold())
        return moved, records

    return transact(ctx.store, decide)
