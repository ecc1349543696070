"""The work of an agent of this clone that another clone told to stop, which could not save it."""

from ghp_agents.claims.effects import myself
from ghp_agents.core.ids import issue_of_branch
from ghp_agents.handoffs import for_dead_agent
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.workspace import Workspace


def save(ctx: Context, order: StopOrder, number: int, theirs: Workspace) -> str:
    """Save what an agent has in its worktree and has not committed or pushed on an issue; once for
    each claim. Returns the handoff's name, or nothing. Raises GhpError."""
    locks = reversed(ctx.locks.history(claim_name(number)))
    lock = next((lock for lock in locks if lock.holder == order.agent), None)
    if order.clone == ctx.locks.clone or lock is None:
        return ""
    issue = ctx.tracker.get(number)
    saved = for_dead_agent.write_work(myself(ctx), issue, lock, theirs, keeps=order.keeps)
    return saved.name if saved else ""


def save_here(ctx: Context, order: StopOrder) -> tuple[int, str] | None:
    """The same, of the worktree that the agent has in this clone, and the issue of its branch. None
    if nothing was saved. Raises GhpError."""
    if order.clone == ctx.locks.clone:
        return None
    fields = ctx.store.snapshot().agents().get(order.agent, {})
    theirs = for_dead_agent.worktree_of(ctx.ws, order.agent, fields)
    number = issue_of_branch(theirs.branch) if theirs and theirs.branch else None
    if theirs is None or number is None:
        return None
    saved = save(ctx, order, number, theirs)
    return (number, saved) if saved else None
