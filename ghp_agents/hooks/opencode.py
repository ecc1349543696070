"""OpenCode: what our plugin for it sends (`plugin.py`), by OpenCode's names."""

from ghp_agents.hooks import plugin
from ghp_agents.hooks.event import Client, Event, first, patched, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATCHES = ("apply_patch", "patch")
PATHS = ("filePath", "path")


def _edited(tool: str, arguments: "Any") -> "list[str] | None":
    if tool in PATCHES:
        return patched(text(arguments, "patchText"))
    path = first(arguments, PATHS)
    return ([path] if path else []) if tool in CLIENT.edits else None


CLIENT = Client(
    "opencode",
    ("session.start", "chat.message", "tool.execute.before", "tool.execute.after", "session.idle",
     "session.compacting", "session.end"),
    hears=("start", "prompt", "batch"),
    paths=PATHS,
    edits=("edit", "write", "multiedit", *PATCHES),
    runs=("bash",),
    reads=("read",),
    searches=("grep", "glob", "list"),
    edited=_edited,
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of the plugin; None if we do not handle it."""
    return plugin.parse(CLIENT, payload)


render = plugin.render
