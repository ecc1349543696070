"""Codex: parses its events, and renders replies in its schema, which allows no other keys."""

import os

from ghp_agents.hooks.event import (
    EDITED,
    RAN,
    READ,
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
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "edit",
    "PostToolUse": "batch",
    "Stop": "stop",
    "PreCompact": "compact",
    "SessionEnd": "end",
}
HEARS = ("start", "prompt", "batch", "stop")
PATCH = "apply_patch"
SHELLS = ("Bash", "shell", "exec_command", "local_shell")
PATHS = ("file_path", "path")


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Codex; None if we do not handle it."""
    name = text(payload, "hook_event_name")
    kind = KINDS.get(name)
    tool, given = text(payload, "tool_name"), payload.get("tool_input")
    paths = _patched(tool, given) if kind == "edit" else []
    if kind is None or (kind == "edit" and not paths):
        return None
    again = kind == "stop" and payload.get("stop_hook_active") is not False
    return Event(
        "codex",
        kind,
        name,
        text(payload, "session_id") or None,
        text(payload, "cwd") or None,
        paths=paths,
        tool_uses=[_tool_use(tool, given)] if kind == "batch" and tool else (),
        hears=kind in HEARS and not again,
        goes_on=kind == "start" and payload.get("source") == "compact",
    )


def _patched(tool: str, given: "Any") -> "list[str]":
    """The files of a patch that is given to the tool, or to `apply_patch` in the shell."""
    command = text(given, "command")
    if tool == PATCH:
        return patched(command)
    if tool not in SHELLS or PATCH not in command or "*** Begin Patch" not in command:
        return []
    before, _, rest = command.partition("&&")
    words = before.split(None, 1)
    folder = words[1].strip().strip("\"'") if words[:1] == ["cd"] and len(words) == 2 else ""
    return [os.path.join(folder, path) for path in patched(rest if folder else command)]


def _tool_use(tool: str, given: "Any") -> ToolUse:
    paths = _patched(tool, given)
    if paths:
        return ToolUse(EDITED, paths)
    if tool in SHELLS:
        return ToolUse(RAN, [first(given, ("command", "cmd"))])
    return ToolUse(READ, [first(given, PATHS)]) if tool == "view_image" else ToolUse(USED, [tool])


def render(event: Event, reply: Reply) -> "dict[str, Any]":
    """The reply to Codex; empty if there is nothing to say."""
    if event.kind == "stop":  # no context is possible here, but a reason to continue
        heard = reply.context if event.hears else ""
        return {"decision": "block", "reason": heard} if heard else {}
    fields: dict[str, str] = {"hookEventName": event.name}
    if reply.deny and event.kind == "edit":
        fields["permissionDecision"] = "deny"
        fields["permissionDecisionReason"] = reply.deny
    elif reply.context and event.hears:
        fields["additionalContext"] = reply.context
    return {"hookSpecificOutput": fields} if len(fields) > 1 else {}
