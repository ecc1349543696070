"""The work of an agent of this clone that another clone told to stop, which could not save it."""

from collections.abc import Collection

from ghp_agents.claims.effects import myself
from ghp_agents.core.ids import issue_of_branch
from ghp_agents.handoffs import for_dead_agent
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.state.cause import RELEASE
from ghp_agents.workspace import Workspace


def save(ctx: Context, order: StopOrder, number: int, theirs: Workspace) -> str:
    """Save what an agent has in its worktree and has not committed or pushed on an issue; once for
    each claim. Returns the handoff's name, or nothing. Raises GhpError."""
    lock = _interrupted(ctx, order.agent, number)
    if order.clone == ctx.locks.clone or lock is None:
        return ""
    issue = ctx.tracker.get(number)
    if issue.state == "closed":
        return ""
    saved = for_dead_agent.write_work(myself(ctx), issue, lock, theirs, keeps=order.keeps)
    return saved.name if saved else ""


def save_here(ctx: Context, order: StopOrder, but: Collection[int]) -> tuple[tuple[int, str], ...]:
    """The same, of all worktrees that the agent has in this clone: each issue of a branch, and its
    handoff. Without the issues `but`. Raises GhpError."""
    if order.clone == ctx.locks.clone:
        return ()
    fields = ctx.store.snapshot().agents().get(order.agent, {})
    saved: list[tuple[int, str]] = []
    for theirs in for_dead_agent.worktrees_of(ctx.ws, order.agent, fields):
        number = issue_of_branch(theirs.branch or "")
        handoff = save(ctx, order, number, theirs) if number and number not in but else ""
        saved += [(number, handoff)] if number and handoff else []
    return tuple(saved)


def _interrupted(ctx: Context, agent: str, number: int) -> Lock | None:
    """The last claim of an agent on an issue, if it still stands or another agent released it."""
    chain = ctx.locks.history(claim_name(number))
    last = max((at for at, lock in enumerate(chain) if lock.holder == agent), default=None)
    if last is None:
        return None
    ends = [lock.cause for lock in chain[last + 1 : last + 2]]
    return chain[last] if all(x.kind == RELEASE and x.by != agent for x in ends) else None
