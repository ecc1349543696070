"""Gemini CLI: parses its events, and renders replies in its schema."""

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
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "BeforeTool": "edit",
    "AfterTool": "batch",
    "AfterAgent": "stop",
    "PreCompress": "compact",
    "SessionEnd": "end",
}
# Context after a turn would make it reject its own response, so news waits for the next prompt.
HEARS = ("start", "prompt", "batch")
EDITS = ("replace", "write_file")
SEARCHES = ("glob", "grep_search", "list_directory", "search_file_content")
PATHS = ("file_path", "absolute_path")


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Gemini CLI; None if we do not handle it."""
    name = text(payload, "hook_event_name")
    kind = KINDS.get(name)
    tool, given = text(payload, "tool_name"), payload.get("tool_input")
    if kind is None or (kind == "edit" and tool not in EDITS):
        return None
    path = first(given, PATHS) if kind == "edit" else ""
    return Event(
        "gemini",
        kind,
        name,
        text(payload, "session_id") or None,
        text(payload, "cwd") or None,
        paths=[path] if path else (),
        tool_uses=[_tool_use(tool, given)] if kind == "batch" and tool else (),
        hears=kind in HEARS,
    )


def _tool_use(tool: str, given: "Any") -> ToolUse:
    if tool in EDITS:
        return ToolUse(EDITED, [first(given, PATHS)])
    if tool == "run_shell_command":
        return ToolUse(RAN, [text(given, "command")])
    if tool == "read_file":
        return ToolUse(READ, [first(given, PATHS)])
    return ToolUse(SEARCHED, []) if tool in SEARCHES else ToolUse(USED, [tool])


def render(event: Event, reply: Reply) -> "dict[str, Any]":
    """The reply to Gemini CLI; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"decision": "deny", "reason": reply.deny}
    if reply.context and event.hears:
        fields = {"hookEventName": event.name, "additionalContext": reply.context}
        return {"hookSpecificOutput": fields}
    return {}
