"""GitHub Copilot CLI: parses its events, and renders replies in its schema.

Events that are configured in PascalCase come with Claude Code's names of fields and tools. A
sub-agent has a session of its own, and names its parent.
"""

from ghp_agents.hooks.event import Client, Event, Reply, ToolEdit, first, patched, text, to_go_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.messages import CopilotReply, DecisionReply

PATHS = ("path", "file_path")


def _edited(tool: str, given: "Any") -> "list[str] | None":
    """The files of a patch, which is a text, or the file of another edit."""
    if tool not in CLIENT.edits:
        return None
    path = first(given, PATHS)
    return patched(given) if isinstance(given, str) else [path] if path else []


def _edit(tool: str, given: "Any") -> ToolEdit:
    return (
        ToolEdit("apply_patch", {"patch": given})
        if isinstance(given, str)
        else ToolEdit(tool, given)
    )


CLIENT = Client(
    "copilot",
    ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact",
     "SessionEnd"),
    hears=("start", "prompt", "edit", "batch", "stop"),
    paths=PATHS,
    edits=("Edit", "Write"),
    runs=("Bash",),
    reads=("Read",),
    searches=("Glob", "Grep"),
    sessions=("parent_agent_id", "session_id"),
    edited=_edited,
    edit=_edit,
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message; None if we do not handle it."""
    event = CLIENT.parse(payload)
    if event is not None and event.kind == "stop":
        event.last_line = _last_line(text(payload, "timestamp"))
    return event


def _last_line(moment: str) -> bytes:
    """What Copilot notes in the session's file of an event at a time such as
    2026-01-02T03:04:05.678Z: the same time in milliseconds."""
    from datetime import datetime

    try:
        return b'"timestamp":%d' % round(datetime.fromisoformat(moment).timestamp() * 1000)
    except (ValueError, OverflowError):
        return b""


def render(event: Event, reply: Reply) -> "CopilotReply | DecisionReply":
    """The reply to Copilot CLI; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
    if event.kind == "stop":
        return to_go_on(event, reply) or {}
    return {"additionalContext": reply.context} if reply.context and event.hears else {}
