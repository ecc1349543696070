"""The agent waits for its person: for a permission, an answer, or the next prompt.

Its client says so by a notification. Its presence shows it until the next event: an agent that
waits does not count as dead (`hotpath/alive.py`).
"""

from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.scene import HookContext

# What is waited for, by the kind of notification (Claude Code, Gemini CLI). Others tell no waiting.
WAITS = {
    "permission_prompt": ": a permission",
    "ToolPermission": ": a permission",
    "elicitation_dialog": ": an answer",
    "agent_needs_input": ": an answer",
    "idle_prompt": "",
}


def begin(context: "HookContext") -> None:
    """Show that the agent waits, and for what. Other notifications do not count."""
    waits = WAITS.get(context.event.about)
    if waits is not None:
        beat(context, {"status": "waiting", "lastAction": heartbeat.WAITS + waits})


def ended(presence: "Mapping[str, Any]") -> "dict[str, Any]":
    """The fields of the next heartbeat: it works again, if a notification said that it waits."""
    is_over = presence.get("status") == "waiting"
    return {"status": "implementing"} if is_over and _is_ours(presence) else {}


def _is_ours(presence: "Mapping[str, Any]") -> bool:
    return str(presence.get("lastAction", "")).startswith(heartbeat.WAITS)
