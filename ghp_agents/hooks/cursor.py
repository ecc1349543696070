"""Cursor: parses its events, and renders replies in its schema."""

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
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "preToolUse": "edit",
    "postToolUse": "batch",
    "stop": "stop",
    "preCompact": "compact",
    "sessionEnd": "end",
}
HEARS = ("start", "batch", "stop")  # a prompt can be blocked, but takes no context
EDITS = ("Delete", "Edit", "Write")
PATHS = ("file_path", "path", "target_file", "target_notebook")


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Cursor; None if we do not handle it."""
    name = text(payload, "hook_event_name")
    kind = KINDS.get(name)
    tool, given = text(payload, "tool_name"), payload.get("tool_input")
    if kind is None or (kind == "edit" and tool not in EDITS):
        return None
    path = first(given, PATHS) if kind == "edit" else ""
    again = kind == "stop" and not _is_first_end(payload)
    return Event(
        "cursor",
        kind,
        name,
        first(payload, ("conversation_id", "session_id")) or None,
        text(payload, "cwd") or _root(payload),
        paths=[path] if path else (),
        tool_uses=[_tool_use(tool, given)] if kind == "batch" and tool else (),
        hears=kind in HEARS and not again,
    )


def _root(payload: "Mapping[str, Any]") -> str | None:
    """The open folder; most events name no other."""
    roots = payload.get("workspace_roots")
    found = roots[0] if isinstance(roots, list) and roots else None
    return found if isinstance(found, str) and found else None


def _is_first_end(payload: "Mapping[str, Any]") -> bool:
    """Whether the agent ended by itself: not stopped by its user and not continued by us."""
    return payload.get("status") == "completed" and payload.get("loop_count", 0) == 0


def _tool_use(tool: str, given: "Any") -> ToolUse:
    if tool in EDITS:
        return ToolUse(EDITED, [first(given, PATHS)])
    if tool == "Shell":
        return ToolUse(RAN, [text(given, "command")])
    if tool == "Read":
        return ToolUse(READ, [first(given, PATHS)])
    return ToolUse(SEARCHED, []) if tool in ("Glob", "Grep") else ToolUse(USED, [tool])


def render(event: Event, reply: Reply) -> "dict[str, Any]":
    """The reply to Cursor; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"permission": "deny", "user_message": reply.deny, "agent_message": reply.deny}
    if not (reply.context and event.hears):
        return {}
    return {"followup_message" if event.kind == "stop" else "additional_context": reply.context}
