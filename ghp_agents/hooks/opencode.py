"""OpenCode: the protocol between our plugin for it and this program.

The plugin calls `hook opencode` with one JSON object on standard input:

    {"hook_event_name": …, "session_id": …, "cwd": …, "pid": …, "tool_name": …, "tool_input": {…}}

The events are `session.start`, `chat.message`, `tool.execute.before`, `tool.execute.after`,
`session.idle`, `session.compacting`, `session.end`; tools and their arguments are OpenCode's own.
The reply is empty, or one JSON object that tells the plugin what to do:

    {"schemaVersion": 1}  with each of them
    {"deny": "text"}     throw an error with this text, so that the tool is not run
    {"context": "text"}  give the model this text: with the message, or after the tool's output
    {"env": {…}}         set these variables for the agent's shell commands; with "context"
"""

from ghp_agents.hooks.event import Client, Event, Reply, first, patched, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.messages import OpenCodeReply

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
    event, pid = CLIENT.parse(payload), payload.get("pid")
    if event and type(pid) is int and pid > 0:
        event.pid = pid
    return event


def render(event: Event, reply: Reply) -> "OpenCodeReply":
    """The reply to the plugin."""
    if reply.deny and event.kind == "edit":
        return {"schemaVersion": 1, "deny": reply.deny}
    fields: OpenCodeReply = {}
    if reply.context and event.hears:
        fields["context"] = reply.context
    if reply.environ and event.kind == "start":
        fields["env"] = dict(reply.environ)
    return {"schemaVersion": 1, **fields} if fields else {}
