"""Which issue an agent works on where it acts; it can hold several, each with a worktree."""

from collections.abc import Mapping

from ghp_agents.core.ids import IssueNumber, issue_of_branch
from ghp_agents.hotpath.heartbeat import former_claims
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import Context
from ghp_agents.state.presence import issue_of


def in_hand(ctx: Context, agent: str | None) -> IssueNumber | None:
    """The issue of this branch if the agent holds it or had claimed it; else that of its presence,
    of the branch, or of the program that started it."""
    here, reported = issue_of_branch(ctx.ws.branch or ""), ctx.ws.issue_in_hand(agent)
    if agent is None or here is None or here == reported:
        return reported
    former = former_claims(ctx.ws.presence(agent) or {})
    return here if str(here) in former or here in held(ctx, agent) else reported


def held(ctx: Context, agent: str, clone: str | None = None) -> Mapping[int, Lock]:
    """The claims of an agent, as far as known here, by issue: its current one first, then the
    newest. None: it is of this clone."""
    locks = [
        lock for lock in ctx.locks.known(PREFIX)
        if lock.holder == agent and not lock.is_person
        and lock.clone in ("", clone or ctx.locks.clone)
    ]  # fmt: skip
    current = issue_of(ctx.ws.presence(agent) or {})
    claims = {number: lock for lock in locks if (number := claimed_issue(lock.name)) is not None}
    order = sorted(claims, key=lambda n: (n == current, claims[n].acquired_at, n), reverse=True)
    return {number: claims[number] for number in order}
