"""The doctor's checks of names, and who would still be at work after a removal."""

from collections.abc import Iterator

from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath import alive, heartbeat, own_name
from ghp_agents.ports import Context
from ghp_agents.presence import client_process
from ghp_agents.presence import service as presence
from ghp_agents.workspace import Workspace


def check_agent(ws: Workspace) -> Iterator[Finding]:
    """Report the agent for which commands act here."""
    name = ws.chosen_name or own_name.whoami(ws.place, ws.environ)
    if not name:
        how = "If an agent works here, name it: ghp agent-whoami --set worker-1"
        yield info("agent", "This worktree has no agent name.", how)
    elif not heartbeat.is_name(name):
        text = f"{one_line(name, 80)!r} is not a valid agent name, so no command can use it."
        yield error("agent", text, "Set another: ghp agent-whoami --set worker-1 (or GHP_AGENT).")
    else:
        yield ok("agent", f"Commands here act as {name}.")


def check_rivals(ws: Workspace) -> Iterator[Finding]:
    """Report two live sessions with one name."""
    for rivalry in presence.rivalries(ws):
        yield warning(
            "rivals",
            f"Two running sessions use the name {rivalry.agent}: {rivalry.where}.",
            "Rename one, in its worktree: ghp agent-whoami --set NAME",
        )


def living(ctx: Context) -> list[str]:
    """Return agents at work with a recent heartbeat here: the next one would create the folder
    again."""
    recent = ctx.ws.clock.now() - ctx.ws.settings.stale_after
    here = {name for name, at in ctx.store.snapshot().beaten().items() if at > recent}
    working = here.intersection(presence.agents_here(ctx.ws))
    over = {*client_process.ended(ctx.ws, working)}
    over |= {name for name in working if alive.process_lives(ctx.ws.presence(name) or {}) is False}
    return sorted(working - over)


def living_elsewhere(ctx: Context) -> list[str]:
    """Return agents of other clones that are alive, as far as this clone knows."""
    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    return [view.name for view in views if not view.is_here and view.liveness in presence.LIVING]
