"""An agent that was told to stop begins nothing new."""

from ghp_agents.claims import messages
from ghp_agents.ports import Context
from ghp_agents.presence import stopping


def refuse(ctx: Context, name: str) -> None:
    """Raise RefusedError if the agent was told to stop and has not stopped."""
    order = stopping.in_force(ctx, ctx.store.snapshot()).get(name)
    if order and (ctx.ws.presence(name) or {}).get("status") != "stopped":
        raise messages.stopped(order)
