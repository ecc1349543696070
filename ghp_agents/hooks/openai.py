"""Our own client for endpoints in OpenAI's format (`runs/model/`), by its names.

It sends an edit as the whole new content of the file.
"""

from ghp_agents.hooks import plugin
from ghp_agents.hooks.event import Client, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = Client(
    "openai",
    ("session_start", "prompt", "before_tool", "after_tool", "turn_end", "compact", "session_end"),
    hears=("start", "batch", "stop"),
    paths=("path",),
    edits=("edit", "write"),
    runs=("run",),
    reads=("read",),
    searches=("list", "search"),
)


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of the client; None if we do not handle it."""
    return plugin.parse(CLIENT, payload)


render = plugin.render
