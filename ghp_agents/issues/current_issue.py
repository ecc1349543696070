"""Which issue an agent works on where it acts; it can hold several, each with a worktree."""

from collections.abc import Mapping

from ghp_agents.core.ids import Actor, IssueNumber, issue_of_branch
from ghp_agents.hotpath.heartbeat import former_claims
from ghp_agents.locks.lock import Lock
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
    current, here = issue_of(ctx.ws.presence(agent) or {}), ("", clone or ctx.locks.clone)
    claims = {n: x for n, x in ctx.world.held_by(Actor(agent)).items() if x.clone in here}
    order = sorted(claims, key=lambda n: (n == current, claims[n].acquired_at, n), reverse=True)
    return {number: claims[number] for number in order}
