"""pi: what our extension for it sends (`plugin.py`), by pi's names."""

from ghp_agents.hooks import plugin
from ghp_agents.hooks.event import Client, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = Client(
    "pi",
    ("session_start", "before_agent_start", "tool_call", "tool_result", "agent_end",
     "session_before_compact", "session_shutdown"),
    hears=("start", "prompt", "batch"),
    paths=("path", "file_path"),
    edits=("edit", "write"),
    runs=("bash",),
    reads=("read",),
    searches=("find", "grep", "ls"),
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of the extension; None if we do not handle it."""
    return plugin.parse(CLIENT, payload)


render = plugin.render
