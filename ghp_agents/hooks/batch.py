"""After the agent's tools have run: a beat that says what it did, and news if the bell rings."""

from ghp_agents.hooks.action import action
from ghp_agents.hooks.event import EDITED, Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import heartbeat, news_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.scene import HookContext


def batch(scene: "HookContext") -> Reply | None:
    """Beat; and tell what the agent was not told of."""
    event = scene.event
    said: dict[str, Any] = {}
    done = action(event.deeds, event.cwd, scene.place.toplevel)
    if done:
        said["lastAction"] = heartbeat.clean_action(done)
    beat(scene, said, progress=any(deed.verb == EDITED for deed in event.deeds))
    if event.hears and news_flag.is_set(scene.folders, scene.agent):
        from ghp_agents.hooks.news import news

        return news(scene, "ghp-agents has news for this agent:")
    return None
