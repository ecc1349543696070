"""The facts for a sweep: agents, claims, issues, leases and clones, each read once.

There are no single requests: locks and state are those of the last sync, and the issues are one
list.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.claims import effects
from ghp_agents.claims.decision import Candidate
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.first_seen import FirstSeen
from ghp_agents.escalations.escalation import (
    Escalation,
    is_last_resort,
    left_to_people,
    open_last_resorts,
)
from ghp_agents.issues import comment_commands
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import settled_questions
from ghp_agents.leases.record import what
from ghp_agents.leases.world import NAMES, PATHS, LeaseWorld
from ghp_agents.locks.held import note_first_seen
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context
from ghp_agents.presence import capabilities
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.cause import CLOSED, SWEPT
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.presence import position
from ghp_agents.sweep import memory
from ghp_agents.sweep.plan import (
    TRUNK,
    Held,
    LeaseOf,
    OpenQuestion,
    SweepFacts,
    Unfinished,
)
from ghp_agents.workspace import Workspace


def gather(world: LeaseWorld) -> SweepFacts:
    """Gather all facts but the orphans. Raises GhpError if the issues cannot be read."""
    ctx, snapshot = world.ctx, world.snapshot
    issues: dict[int, Issue] = {
        number: issue for issue in ctx.tracker.list(closed=True) for number in issue.numbers
    }
    all_locks = world.locks
    claims = [*world.claims.values()]
    leases = [x for x in all_locks if x.name == TRUNK or x.name.startswith((PATHS, NAMES))]
    locks = [x for x in leases if x.holder is not None]
    held = _held(world, [*claims, *locks])
    unshown = [lock for lock in all_locks if _may_be_unshown(lock, issues)]
    needs_ledger = unshown or any(held[lock.name].lapsed for lock in claims)
    ledger = ctx.store.ledger() if needs_ledger else []
    escalations = settled_questions.read(world)
    commands = comment_commands.commands_in(snapshot)
    return SweepFacts(
        claims=tuple(held[lock.name] for lock in claims),
        issues=issues,
        claimed={lock.name: claimed_issue(lock.name) or 0 for lock in all_locks},
        workers=_workers(ctx.ws, world.agents),
        locks=tuple(held[lock.name] for lock in locks),
        leases=_leases(world),
        clones=memory.clones(ctx.ws, snapshot, _news_at(ctx)),
        questions=tuple(_waiting(ctx.ws, escalations)),
        attempts=_attempts(ledger, escalations, comment_commands.retried(commands)),
        unfinished=tuple(_unfinished(unshown, ledger)),
        last_resorts=open_last_resorts(escalations),
        left=left_to_people(escalations),
        stopped=comment_commands.stopped(commands),
        given=comment_commands.given(commands),
        person_label=ctx.ws.settings.needs_human_label,
    )


def _held(world: LeaseWorld, locks: Sequence[Lock]) -> dict[str, Held]:
    ctx, holders = world.ctx, world.holders(locks)
    noted = note_first_seen(ctx.ws, locks)
    news_at = _news_at(ctx)
    return {
        lock.name: _judge(ctx.ws, lock, holders[lock.name], noted[lock.name], news_at)
        for lock in locks
    }


def _judge(
    ws: Workspace, lock: Lock, holder: HolderView, first_seen: FirstSeen, news_at: float
) -> Held:
    if lock.is_person:
        return Held(lock)
    settings = ws.settings
    if holder.view is None:
        # It claimed without any presence: it may have died before its first sync.
        silent = max(0.0, news_at - first_seen.since)
        lapsed, gone = silent >= settings.dead_after, silent >= settings.gone_after
        return Held(lock, "unknown", silent, lapsed, gone)
    view, silent = holder.view, holder.view.silent
    if holder.lives:
        state = view.liveness if view.liveness in presence.LIVING else Liveness.ACTIVE
        return Held(lock, state.value, silent)
    # If a process has just ended, another may be about to resume its work.
    lapsed = not holder.rests and silent >= settings.stale_after
    return Held(lock, view.liveness.value, silent, lapsed, view.liveness is Liveness.GONE)


def _news_at(ctx: Context) -> float:
    if ctx.store.remote() is None:
        return ctx.ws.steady()
    return presence.news_at(ctx) or 0.0


def _may_be_unshown(lock: Lock, issues: Mapping[int, Issue]) -> bool:
    issue = issues.get(claimed_issue(lock.name) or 0)
    if issue is None or issue.state == "closed":
        return issue is not None and lock.holder is None and lock.cause.kind == CLOSED
    return lock.cause.kind == SWEPT


def _unfinished(swept: Iterable[Lock], ledger: Iterable[LedgerEntry]) -> Iterable[Unfinished]:
    """Return claims whose sweep was killed before it made the change visible."""
    recorded = {entry.id for entry in ledger}
    for lock in swept:
        if effects.entry_id("release", lock) not in recorded:
            yield Unfinished(claimed_issue(lock.name) or 0, lock)


def _attempts(
    ledger: Iterable[LedgerEntry], escalations: Iterable[Escalation], retried: Mapping[int, int]
) -> dict[int, int]:
    """Count how often each issue was swept since a person last decided about it."""
    since = dict(retried)
    for item in escalations:
        if is_last_resort(item) and item.question.issue and item.answers:
            clock = max(answer.clock for answer in item.answers)
            since[item.question.issue] = max(clock, since.get(item.question.issue, 0))
    swept = [x for x in ledger if (x.event, x.cause) == ("release", SWEPT)]
    return Counter(x.issue for x in swept if x.issue and x.clock > since.get(x.issue, 0))


def _workers(ws: Workspace, views: Iterable[AgentView]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            view.name,
            max(1, position(view.presence)[0]),
            capabilities=capabilities.of(ws, view.name, view.presence),
        )
        for view in views
        if view.liveness is Liveness.ACTIVE
        and view.name not in ws.settings.orchestrators
        and presence.is_at_work(view)
    )


def _leases(world: LeaseWorld) -> tuple[LeaseOf, ...]:
    return tuple(
        LeaseOf(log.id, log.holder.name, what(log.request.patterns, log.request.name))
        for log in world.logs
        if log.is_open and not log.holder.is_person and world.is_gone(log.holder.name)
    )


def _waiting(ws: Workspace, escalations: Iterable[Escalation]) -> Iterable[OpenQuestion]:
    for item in escalations:
        if item.is_open:
            try:
                waits = ws.clock.now() - to_seconds(item.asked_at)
            except ValueError:
                waits = 0.0
            question = item.question
            yield OpenQuestion(item.name, question.agent, question.issue, item.title, waits)
