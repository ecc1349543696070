"""Claude Code: parses its events, and renders replies in its schema."""

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
    "UserPromptSubmit": "prompt",
    "PreToolUse": "edit",
    "PostToolBatch": "batch",
    "Stop": "stop",
    "PreCompact": "compact",
    "SessionEnd": "end",
}
HEARS = ("start", "prompt", "batch", "stop")
EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
PATHS = ("file_path", "notebook_path")
REFUSED = "PreToolUse:"  # the response to a call that a hook denied begins so


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Claude Code; None if we do not handle it."""
    name = text(payload, "hook_event_name")
    kind = KINDS.get(name)
    if kind is None or (kind == "edit" and text(payload, "tool_name") not in EDITS):
        return None
    path = first(payload.get("tool_input"), PATHS) if kind == "edit" else ""
    # A turn that a hook has extended is not extended again.
    again = kind == "stop" and payload.get("stop_hook_active") is not False
    return Event(
        "claude",
        kind,
        name,
        text(payload, "session_id") or None,
        text(payload, "cwd") or None,
        paths=[path] if path else (),
        tool_uses=_tool_uses(payload) if kind == "batch" else (),
        hears=kind in HEARS and not again,
        goes_on=kind == "start" and payload.get("source") == "compact",
    )


def _tool_uses(payload: "Mapping[str, Any]") -> "list[ToolUse]":
    calls = payload.get("tool_calls")
    if not isinstance(calls, list):
        return []
    return [_tool_use(call) for call in calls if text(call, "tool_name") and not _was_refused(call)]


def _was_refused(call: "Any") -> bool:
    return REFUSED in text(call, "tool_response")[:100]


def _tool_use(call: "Any") -> ToolUse:
    tool, given = text(call, "tool_name"), call.get("tool_input")
    if tool in EDITS:
        return ToolUse(EDITED, [first(given, PATHS)])
    if tool == "Bash":
        return ToolUse(RAN, [text(given, "command")])
    if tool in ("Read", "NotebookRead"):
        return ToolUse(READ, [first(given, PATHS)])
    return ToolUse(SEARCHED, []) if tool in ("Glob", "Grep", "LS") else ToolUse(USED, [tool])


def render(event: Event, reply: Reply) -> "dict[str, Any]":
    """The reply to Claude Code; empty if there is nothing to say."""
    fields: dict[str, str] = {"hookEventName": event.name}
    if reply.deny and event.kind == "edit":
        fields["permissionDecision"] = "deny"
        fields["permissionDecisionReason"] = reply.deny
    elif reply.context and event.hears:
        fields["additionalContext"] = reply.context
    return {"hookSpecificOutput": fields} if len(fields) > 1 else {}
