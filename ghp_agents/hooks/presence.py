"""Heartbeats from hooks."""

from ghp_agents.hooks import usage
from ghp_agents.hotpath import background, boot_clock, heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.scene import HookContext


def beat(context: "HookContext", fields: "dict[str, Any]", *, progress: bool = False) -> None:
    """Renew the agent's presence; register an agent that has none yet."""
    settings = context.settings()
    beaten = heartbeat.beat(
        context.folders,
        context.agent,
        {**fields, "kind": context.event.client, **heartbeat.surroundings(context.place)},
        context.now,
        session=heartbeat.session(context.environ)[1],
        progress=progress,
        throttle=settings.get("throttle", heartbeat.THROTTLE),
        pid=heartbeat.agent_pid(context.environ),
        moment=boot_clock.read(),
        count=usage.counting(context),
    )
    if beaten is None:
        begin(context, fields)
        beaten = "moved"
    background.start_sync(
        context.folders, context.environ, context.now, settings, urgent=beaten == "moved"
    )


def begin(context: "HookContext", fields: "dict[str, Any]") -> None:
    """Send a heartbeat that registers a new agent or a new session."""
    from ghp_agents.core.ids import AgentName, issue_of_branch
    from ghp_agents.presence import service as presence

    ws, store = context.app().ws, context.app().store
    before = context.presence() or {}
    fields = {**fields, "kind": context.event.client}
    branch = ws.branch
    if before.get("issue") and not (branch and issue_of_branch(branch)):
        fields["issue"] = before["issue"]  # a new session keeps the agent's issue
    presence.heartbeat(ws, store, AgentName(context.agent), fields)
