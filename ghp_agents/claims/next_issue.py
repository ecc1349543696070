"""The issue that an agent goes on with after its claim of another ended."""

from ghp_agents.core.ids import AgentName, issue_of_branch
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.issues import current_issue
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import Presence


def go_on(ctx: Context, agent: AgentName, lost: LostClaim) -> None:
    """Make another issue that an agent holds its current one, after it read that it lost its claim
    of the current one: that of this branch, else the newest. Not if it has stopped."""
    before, claims = ctx.ws.presence(agent) or {}, current_issue.held(ctx, agent)
    if not claims or before.get("status") == "stopped":
        return
    here = issue_of_branch(ctx.ws.branch or "") or 0
    chosen = here if here in claims else next(iter(claims))
    fields = fields_of(ctx, before, chosen, claims[chosen], lost.short)
    presence.heartbeat(ctx.ws, ctx.store, agent, fields)


def fields_of(
    ctx: Context, before: Presence, issue: int, claim: Lock, action: str
) -> dict[str, object]:
    """The fields of the presence of an agent that goes on with an issue after an action. Its pull
    request, if it is open, is looked up only where this clone merges."""
    pulls = ctx.forge.list() if ctx.forge.is_local else []
    opened = next((pull.number for pull in pulls if pull.issue == issue), None)
    return {
        "issue": issue, "generation": claim.generation,
        "status": "reviewing" if opened else "planning",
        "lastAction": f"{action}, goes on with #{issue}",
        **({"pull": opened} if opened or before.get("pull") else {}),
    }  # fmt: skip
