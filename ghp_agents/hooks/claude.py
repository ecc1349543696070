"""Claude Code: parses its events, and renders replies in its schema."""

from ghp_agents.hooks.event import Client, Event, ToolUse, hook_output, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = Client(
    "claude",
    ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop", "PreCompact",
     "SessionEnd", "Notification", "StopFailure"),
    hears=("start", "prompt", "edit", "batch", "stop"),
    paths=("file_path", "notebook_path"),
    edits=("Edit", "MultiEdit", "NotebookEdit", "Write"),
    runs=("Bash",),
    reads=("Read", "NotebookRead"),
    searches=("Glob", "Grep", "LS"),
)  # fmt: skip
REFUSED = "PreToolUse:"  # the response to a call that a hook denied begins so


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Claude Code; None if we do not handle it."""
    event = CLIENT.parse(payload)
    if event:
        event.tool_uses = _tool_uses(payload) if event.kind == "batch" else ()
        event.printed = "\n".join(text(call, "tool_response") for call in _calls(payload))
    return event


def _calls(payload: "Mapping[str, Any]") -> "list[Any]":
    calls = payload.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _tool_uses(payload: "Mapping[str, Any]") -> "list[ToolUse]":
    return [
        CLIENT.use_after(text(call, "tool_name"), call.get("tool_input"), text(payload, "cwd"))
        for call in _calls(payload)
        if text(call, "tool_name") and REFUSED not in text(call, "tool_response")[:100]
    ]


render = hook_output
