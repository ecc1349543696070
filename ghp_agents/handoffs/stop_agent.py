"""Stop an agent: tell it, save its work, free its issues and leases, and end its client.

The order comes first, so that nothing changes after the work was saved. Each step looks first, so
a repeated command finishes what a killed one began.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext, myself, show_release
from ghp_agents.core.errors import NotFoundError, RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp, one_line
from ghp_agents.core.secret_scan import redacted
from ghp_agents.git import own_work
from ghp_agents.handoffs import for_dead_agent, left_work
from ghp_agents.handoffs.handoff import Handoff, Missing
from ghp_agents.handoffs.latest import stores
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.quoting import named
from ghp_agents.leases import service as leases
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import client_process, people, stop_order, stopping
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.settings import rights
from ghp_agents.state.cause import RELEASE, Cause
from ghp_agents.state.presence import number
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text
from ghp_agents.worktrees import removal


class Stopped(NamedTuple):
    """What was done to stop an agent."""

    agent: str
    is_new: bool  # False: nothing was left to do
    has_stopped: bool  # False: it stops at its next step
    issues: tuple[int, ...] = ()  # that are free again, or kept
    handoffs: tuple[str, ...] = ()
    keeps: bool = False  # it keeps its issues; the handoffs are checkpoints
    client: bool | None = None  # with `now`: it was ended; False: it had ended; None: unknown here
    is_here: bool = True  # it works in this clone, which can save what it has not committed
    stored: tuple[str, ...] = ()  # of the handoffs, those that were there, with work
    late: tuple[tuple[int, str], ...] = ()  # issues that it had lost, with their handoffs
    missing: tuple[Missing, ...] = ()  # what is in its worktrees here, and could not be stored
    ignored: tuple[tuple[Path, tuple[str, ...]], ...] = ()  # what only its worktrees have
    stashed: tuple[str, ...] = ()  # its branches with stashes in this clone


def stop(
    ctx: Context, name: str, reason: str = "", *, now: bool = False, keep: bool = False
) -> Stopped:
    """Tell an agent to stop, save its work and free its issues. With `now`, end its client, too.
    With `keep`, it keeps its issues and leases, and `lift` lets it continue.

    For people, orchestrators and the agent itself. Raises NotFoundError, RefusedError,
    UnknownError, GhpError.
    """
    may = rights.may_stop(ctx.ws.actor(), name, ctx.ws.settings.orchestrators)
    me = _authorized(ctx, name, "stops it", may=may)
    view = _find(ctx, name)
    held = [*ctx.world.held_by(Actor(name)).values()]
    is_itself = not me.actor.is_person and me.name == name
    left = left_work.save_of(ctx, name, but=_issues(held))
    late = tuple((x.issue, x.handoff.name) for x in left)
    if view.liveness in (Liveness.STOPPED, Liveness.GONE) and not held:
        forgotten = client_process.end(ctx.ws, name) if now else None
        is_new = bool(forgotten or late)
        missing = _missing(x.handoff for x in left)
        return Stopped(
            name, is_new, has_stopped=True, client=forgotten, late=late, missing=missing,
            ignored=_ignored(ctx, name), stashed=_stashed(ctx, name),
        )  # fmt: skip
    now = now and not (keep and is_itself)  # its own client runs on, so that it can continue
    ends_itself = is_itself and not keep
    ordered = _order(ctx, view, reason, is_lifted=False, keeps=keep, now=now)
    ended = client_process.end(ctx.ws, name) if now and not is_itself else None
    changed = held if ordered or ended or not keep else []
    before = ctx.store.snapshot().clock
    saved = {lock: _save(me, lock, keeps=keep) for lock in changed}
    if not keep:
        _end_leases(me, name)
        if changed and ctx.store.remote():
            ctx.store.sync()  # who takes an issue that is free has the handoff
        changed = [lock for lock in changed if _free(me, lock, reason)]
    has_stopped = stopping.settle(
        ctx, ctx.store.snapshot(), [name], ended=ended is not None or ends_itself
    )
    if now and ends_itself:
        ended = client_process.end(ctx.ws, name)
    is_new = ordered or bool(changed or ended or late)
    return Stopped(
        name,
        is_new,
        bool(has_stopped),
        _issues(changed),
        tuple(saved[lock].name for lock in changed),
        keep,
        ended,
        view.is_here,
        tuple(x.name for x in saved.values() if x.clock <= before and stores(x)),
        late,
        _missing([*(saved[x] for x in changed if view.is_here), *(x.handoff for x in left)]),
        _ignored(ctx, name),
        _stashed(ctx, name),
    )


def _ignored(ctx: Context, name: str) -> tuple[tuple[Path, tuple[str, ...]], ...]:
    """What git ignores in an agent's worktrees, and nothing else has: no handoff stores it."""
    places = [x.folder for x in left_work.agent_places(ctx) if x.agent == name]
    moved = ((place, removal.moved(ctx.ws, place)) for place in places)
    return tuple((place, names) for place, names in moved if names)


def _stashed(ctx: Context, name: str) -> tuple[str, ...]:
    """The branches of an agent's worktrees that have stashes: no handoff stores them."""
    branches = [x.branch for x in left_work.agent_places(ctx) if x.agent == name]
    return tuple(x for x in branches if own_work.stashes(ctx.ws.common_dir, x))


def _missing(handoffs: Iterable[Handoff]) -> tuple[Missing, ...]:
    return tuple(dict.fromkeys(item for x in handoffs if x.work for item in x.work.missing))


def _issues(locks: Sequence[Lock]) -> tuple[int, ...]:
    return tuple(number for lock in locks if (number := claimed_issue(lock.name)) is not None)


def lift(ctx: Context, name: str) -> StopOrder | None:
    """Let an agent continue that was told to stop. Returns the order; None if there was none.
    Raises NotFoundError, RefusedError."""
    may = rights.may_resume(ctx.ws.actor(), ctx.ws.settings.orchestrators)
    _authorized(ctx, name, "lets it continue", may=may)
    view, order = _find(ctx, name), stopping.in_force(ctx, ctx.store.snapshot()).get(name)
    return order if _order(ctx, view, "", is_lifted=True) else None


def _authorized(ctx: Context, name: str, what: str, *, may: bool) -> ClaimContext:
    if not may:
        raise RefusedError(
            f"{ctx.ws.actor().name} is an agent and may not decide whether {named(name)} stops.",
            hint=f"{people.instead(ctx.ws.environ, what)} Ask one: `ghp agent-escalate …`.",
        )
    return myself(ctx)


def _find(ctx: Context, name: str) -> AgentView:
    views = presence.list_agents(ctx, ctx.store.snapshot())
    view = next((view for view in views if view.name == name), None)
    if view is None:
        raise NotFoundError(
            f"There is no agent {named(name)}.",
            hint="`ghp agent-status` lists agents; `ghp agent-sync` gets news from other clones.",
        )
    return view


def _order(
    ctx: Context,
    view: AgentView,
    reason: str,
    *,
    is_lifted: bool,
    keeps: bool = False,
    now: bool = False,
) -> bool:
    """Record the order; returns False if it is in force already, or not in force to be lifted."""
    ws, fresh = ctx.ws, random_hex(6)
    kept = one_line(redacted(reason), stop_order.REASON_LIMIT)

    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        bound = stopping.in_force(ctx, snapshot).get(view.name)
        says_it = bound and bound.keeps == keeps and bound.is_urgent >= now
        if bound is None if is_lifted else says_it:
            return False, []
        entry = StopOrder(
            fresh, view.name, max(1, number(view.presence, "epoch")), kept, is_lifted,
            ws.actor(), Timestamp(now_text(ws)), snapshot.clock + 1, snapshot.clone, keeps,
            now,
        )  # fmt: skip
        return True, [stop_order.encode(entry)]

    is_new = transact(ctx.store, decide)
    if is_new:
        news_flag.set_flag(ws.folders, view.name)
    return is_new


def _save(me: ClaimContext, lock: Lock, *, keeps: bool) -> Handoff:
    """Save the work on an issue."""
    issue = me.ctx.tracker.get(claimed_issue(lock.name) or 0)
    return for_dead_agent.write(me, issue, lock, None, _what(keeps=keeps), keeps=keeps)


def _free(me: ClaimContext, lock: Lock, reason: str) -> bool:
    """Free the issue; False if the claim has changed meanwhile."""
    why = f"{lock.holder} {_what(keeps=False)}" + (f": {one_line(reason, 200)}" if reason else "")
    by_me = Cause(RELEASE, me.name)
    try:
        after = me.ctx.locks.release(lock.name, expected=lock, reason=why, cause=by_me)
    except LockMovedError:
        return False
    issue = me.ctx.tracker.get(claimed_issue(lock.name) or 0)
    show_release(me, issue, after, lock, why)
    return True


def _what(*, keeps: bool) -> str:
    return "was interrupted" if keeps else "was stopped"


def _end_leases(me: ClaimContext, name: str) -> None:
    for hold in leases.listing(me.ctx).held:
        if hold.holder == name and not hold.is_person:
            leases.give_back(me.ctx, me.actor, hold, f"{name} was stopped")
