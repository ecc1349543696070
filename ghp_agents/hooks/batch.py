"""After the agent's tools have run: a heartbeat with its last action, and news if there is any."""

from ghp_agents.hooks.action import action
from ghp_agents.hooks.event import EDITED, Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import heartbeat, news_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.scene import HookContext


def batch(context: "HookContext") -> Reply | None:
    """Renew the presence; reply with news that the agent has not seen."""
    event = context.event
    fields: dict[str, Any] = {}
    done = action(event.tool_uses, event.cwd, context.place.toplevel)
    if done:
        fields["lastAction"] = heartbeat.clean_action(done)
    beat(context, fields, progress=any(use.verb == EDITED for use in event.tool_uses))
    if event.hears and news_flag.is_set(context.folders, context.agent):
        from ghp_agents.hooks.news import news

        return news(context, "ghp-agents has news for this agent:")
    return None
