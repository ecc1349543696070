"""Reconcile leases after a sync: decisions, expired leases, and questions about conflicts."""

from collections.abc import Sequence

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import listed
from ghp_agents.core.json_file import texts_file
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.escalations.service import EscalateResult
from ghp_agents.leases import carry_out, deadlocks, overlaps, settled_questions
from ghp_agents.leases import service as leases
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.overlaps import Overlap
from ghp_agents.leases.record import FOLDER, LeaseHistory, path_of, what
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, LockService
from ghp_agents.presence import service as presence
from ghp_agents.presence import wait_status
from ghp_agents.presence.service import LIVING
from ghp_agents.state.cause import OVERLAP
from ghp_agents.state.legacy_causes import OVERLAPPING
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.world import World

COMPARED = "leases-compared.json"  # ids of leases already compared with each other
LISTED = 5  # places or leases of one holder in a question
MOST_PAIRS = settled_questions.MOST // 2  # of leases that one question is about


def reconcile(ctx: Context, budget: SenderBudget | None = None) -> tuple[str, ...]:
    """Do this clone's part, and return notes for people. Idempotent.

    Runs after a sync, also in the background. `budget` bounds what other clones' leases cause."""
    decided = carry_out.carry_out(ctx)
    snapshot = ctx.store.snapshot()
    budget = budget or SenderBudget(snapshot)
    views = presence.list_agents(ctx, snapshot, processes=False)
    wait_status.restore_status(
        ctx.ws, [view.name for view in views if view.is_here and view.liveness in LIVING]
    )
    results: list[EscalateResult] = []
    if snapshot.present(FOLDER):
        world = LeaseWorld(ctx, snapshot, views)
        if end_what_is_over(world):
            snapshot = ctx.store.snapshot()
            world = LeaseWorld(ctx, snapshot, views)
        results += ask_about_overlaps(world, budget)
    if presence.may_wait(snapshot, views):
        waits = deadlocks.waits(ctx, snapshot, views)
        results += deadlocks.escalate_cycles(ctx, waits, views, budget)
    notes = [f"Asked {x.escalation.name}: {x.escalation.title}" for x in results if x.is_new]
    return (*decided, *notes, *(note for result in results for note in result.notes))


def end_what_is_over(world: LeaseWorld) -> list[LeaseHistory]:
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


def _why_over(world: LeaseWorld, log: LeaseHistory) -> str:
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


def ask_about_overlaps(world: LeaseWorld, budget: SenderBudget) -> list[EscalateResult]:
    """Escalate the overlaps of leases that two clones granted before they synced: one question for
    all between two holders. The leases stay, and the earlier ones count. The clone of the later
    ones asks, and nothing more while that is open."""
    ctx, snapshot, holds = world.ctx, world.snapshot, world.holds
    clones = {log.id: log.request.clone for log in world.logs}
    done = set(texts_file(ctx.ws.cache_dir / COMPARED).read())
    ours = {hold.id for hold in holds if clones.get(hold.id) == snapshot.clone}
    overlapping = overlaps.among(
        ctx.ws, holds, lambda earlier, later: not {earlier.id, later.id} <= done, ours
    )
    by_holders: dict[tuple[str, str], list[Overlap]] = {}
    for overlap in overlapping:
        earlier, later = overlap.earlier, overlap.later
        if earlier.id not in ours and not (earlier.is_person and later.is_person):
            by_holders.setdefault((earlier.holder, later.holder), []).append(overlap)
    is_open = _open_pairs(world) if by_holders else set()
    new = [pair for pair in by_holders if pair not in is_open]
    chosen = budget.first(
        "questions on leases",
        new,
        lambda pair: budget.writers(path_of(by_holders[pair][0].earlier.id)),
    )
    results = escalation.ask_all(ctx, [(_question(by_holders[pair]), "high") for pair in chosen])
    waiting = {x.later.id for pair in by_holders.keys() - {*chosen} for x in by_holders[pair]}
    ids = {hold.id for hold in holds} - waiting
    if ids != done:
        texts_file(ctx.ws.cache_dir / COMPARED).write(sorted(ids))
    return results


def _open_pairs(world: World) -> set[tuple[str, ...]]:
    """The holders between whom an overlap waits for an answer."""
    questions = settled_questions.read(world)
    return {x.question.options for x in questions if x.is_open and x.question.kind == OVERLAP}


def _question(overlapping: Sequence[Overlap]) -> Question:
    """The question for a person about all overlaps between two holders."""
    first = overlapping[0]
    earlier, later = first.earlier, first.later
    asker = later.holder if not later.is_person else earlier.holder
    places = listed([*dict.fromkeys(x.place for x in overlapping)], LISTED)
    before, after = (
        f"{holds[0].holder} leased {listed(_each(holds), LISTED)}"
        for holds in ([x.earlier for x in overlapping], [x.later for x in overlapping])
    )
    text = (
        f"{OVERLAPPING}who should have {places}?\n\n{before}, and {after}, in clones that had "
        f"not synced yet. Until one is released, the lease of {earlier.holder} counts."
    )
    about = tuple(hold.id for x in overlapping[:MOST_PAIRS] for hold in (x.earlier, x.later))
    return Question(asker, text, None, (earlier.holder, later.holder), OVERLAP, about)


def _each(holds: Sequence[Hold]) -> list[str]:
    texts = (f"{what(hold.patterns, hold.name)} at {hold.since} ({hold.short})" for hold in holds)
    return [*dict.fromkeys(texts)]
