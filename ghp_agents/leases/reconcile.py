"""Reconcile leases after a sync: decisions, expired leases, and questions about conflicts."""

from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import texts_file
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.escalations.service import EscalateResult
from ghp_agents.leases import carry_out, deadlocks, overlaps
from ghp_agents.leases import service as leases
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import FOLDER, LeaseHistory, what
from ghp_agents.leases.world import World
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, LockService
from ghp_agents.presence import service as presence
from ghp_agents.presence import wait_status
from ghp_agents.presence.service import LIVING
from ghp_agents.state.cause import OVERLAP
from ghp_agents.state.legacy_causes import OVERLAPPING

COMPARED = "leases-compared.json"  # ids of leases already compared with each other


def reconcile(ctx: Context) -> tuple[str, ...]:
    """Do this clone's part, and return notes for people. Idempotent.

    Runs after a sync, also in the background."""
    decided = carry_out.carry_out(ctx)
    snapshot = ctx.store.snapshot()
    views = presence.list_agents(ctx, snapshot, processes=False)
    wait_status.restore_status(
        ctx.ws, [view.name for view in views if view.is_here and view.liveness in LIVING]
    )
    results: list[EscalateResult] = []
    if snapshot.present(FOLDER):
        world = World(ctx, snapshot, views)
        if end_what_is_over(world):
            snapshot = ctx.store.snapshot()
            world = World(ctx, snapshot, views)
        results += ask_about_overlaps(world)
    if presence.may_wait(snapshot, views):
        waits = deadlocks.waits(ctx, snapshot, views)
        results += deadlocks.escalate_cycles(ctx, waits, views)
    notes = [f"Asked {x.escalation.name}: {x.escalation.title}" for x in results if x.is_new]
    return (*decided, *notes, *(note for result in results for note in result.notes))


def end_what_is_over(world: World) -> list[LeaseHistory]:
    """Record the end of this clone's expired leases. Other clones cannot know it: no machine
    compares its clock with another's."""
    logs, locks = world.logs, world.strict_locks
    ours = [log for log in logs if log.request.clone == world.snapshot.clone]
    reasons = {log.id: _why_over(world, log) for log in ours if log.is_open}
    why = {identity: reason for identity, reason in reasons.items() if reason}
    ended = leases.end(world.ctx, None, why) if why else []
    # A new lease of the same keeps using the lock if that was not released yet.
    kept = {log.nonce for log in logs if log.is_open and log.id not in why}
    for log in ours:
        lock = locks.get(log.request.right)
        is_over = log.id in why or not log.is_open
        if is_over and lock and lock.nonce == log.nonce and log.nonce not in kept:
            _release_lock(world.ctx.locks, lock, why.get(log.id, "its lease has ended"))
    return ended


def _why_over(world: World, log: LeaseHistory) -> str:
    """Why an open lease is over; empty if it is not."""
    if log.is_waiting and not leases.is_waited_for(world.ws, log.id):
        return "the process that waited has ended"
    if log.is_over(world.snapshot.clone, world.now):
        return "its time was up"
    if not log.holder.is_person and world.is_gone(log.holder.name):
        return f"{log.holder} is gone"
    if log.granted and not world.lock_is_current(log):
        return "another took the right"
    return ""


def _release_lock(locks: LockService, lock: Lock, reason: str) -> None:
    if lock.holder is None:
        return
    try:
        locks.release(lock.name, expected=lock, reason=reason)
    except GhpError:
        return  # unreachable, or another holds it now; the next sync tries again


def ask_about_overlaps(world: World) -> list[EscalateResult]:
    """Escalate each overlap of leases that two clones granted before they synced. Both leases
    stay and the earlier one counts. The clone of the later one asks, once."""
    ctx, snapshot, holds = world.ctx, world.snapshot, world.holds
    clones = {log.id: log.request.clone for log in world.logs}
    done = set(texts_file(ctx.ws.cache_dir / COMPARED).read())

    def is_ours_and_new(earlier: Hold, later: Hold) -> bool:
        is_ours = [clones.get(hold.id) == snapshot.clone for hold in (earlier, later)]
        return is_ours == [False, True] and not {earlier.id, later.id} <= done

    overlapping = overlaps.among(ctx.ws, holds, is_ours_and_new)
    questions = [_question(*overlap[:3]) for overlap in overlapping]
    results = [escalation.ask_once(ctx, x, urgency="high") for x in questions if x]
    ids = {hold.id for hold in holds}
    if ids != done:
        texts_file(ctx.ws.cache_dir / COMPARED).write(sorted(ids))
    return results


def _question(earlier: Hold, later: Hold, place: str) -> Question | None:
    """The question for a person; None between two people, who can talk."""
    asker = later.holder if not later.is_person else earlier.holder
    if later.is_person and earlier.is_person:
        return None
    first, second = (
        f"{hold.holder} leased {what(hold.patterns, hold.name)} at {hold.since} ({hold.short})"
        for hold in (earlier, later)
    )
    text = (
        f"{OVERLAPPING}who should have {place}?\n\n{first}, and {second}, in clones that had "
        f"not synced yet. Until one is released, the lease of {earlier.holder} counts."
    )
    options = (earlier.holder, later.holder)
    return Question(asker, text, None, options, OVERLAP, (earlier.id, later.id))
