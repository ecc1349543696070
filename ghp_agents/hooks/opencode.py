"""OpenCode: the protocol between our plugin for it and this program.

The plugin calls `hook opencode` with one JSON object on standard input:

    {"hook_event_name": …, "session_id": …, "cwd": …, "pid": …, "tool_name": …, "tool_input": {…}}

The events are `session.start`, `chat.message`, `tool.execute.before`, `tool.execute.after`,
`session.idle`, `session.compacting`, `session.end`; tools and their arguments are OpenCode's own.
The reply is empty, or one JSON object that tells the plugin what to do:

    {"deny": "text"}     throw an error with this text, so that the tool is not run
    {"context": "text"}  give the model this text: with the message, or after the tool's output
    {"env": {…}}         set these variables for the agent's shell commands; with "context"
"""

from ghp_agents.hooks.event import (
    EDITED,
    RAN,
    READ,
    SEARCHED,
    USED,
    Event,
    Reply,
    ToolUse,
    first,
    patched,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = {
    "session.start": "start",
    "chat.message": "prompt",
    "tool.execute.before": "edit",
    "tool.execute.after": "batch",
    "session.idle": "stop",
    "session.compacting": "compact",
    "session.end": "end",
}
HEARS = ("start", "prompt", "batch")
PATCHES = ("apply_patch", "patch")
EDITS = ("edit", "write", "multiedit", *PATCHES)
PATHS = ("filePath", "path")


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of the plugin; None if we do not handle it."""
    name = text(payload, "hook_event_name")
    kind = KINDS.get(name)
    tool = text(payload, "tool_name")
    if kind is None or (kind == "edit" and tool not in EDITS):
        return None
    given = payload.get("tool_input")
    pid = payload.get("pid")
    return Event(
        "opencode",
        kind,
        name,
        text(payload, "session_id") or None,
        text(payload, "cwd") or None,
        paths=_paths(tool, given) if kind == "edit" else (),
        tool_uses=[_tool_use(tool, given)] if kind == "batch" and tool else (),
        hears=kind in HEARS,
        pid=pid if type(pid) is int and pid > 0 else None,
    )


def _paths(tool: str, given: "Any") -> "list[str]":
    if tool in PATCHES:
        return patched(text(given, "patchText"))
    found = first(given, PATHS)
    return [found] if found else []


def _tool_use(tool: str, given: "Any") -> ToolUse:
    if tool in EDITS:
        return ToolUse(EDITED, _paths(tool, given))
    if tool == "bash":
        return ToolUse(RAN, [text(given, "command")])
    if tool == "read":
        return ToolUse(READ, [first(given, PATHS)])
    return ToolUse(SEARCHED, []) if tool in ("grep", "glob", "list") else ToolUse(USED, [tool])


def render(event: Event, reply: Reply) -> "dict[str, Any]":
    """The reply to the plugin."""
    if reply.deny and event.kind == "edit":
        return {"deny": reply.deny}
    fields: dict[str, Any] = {}
    if reply.context and event.hears:
        fields["context"] = reply.context
    if reply.environ and event.kind == "start":
        fields["env"] = dict(reply.environ)
    return fields
