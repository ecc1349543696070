"""Gemini CLI: parses its events, and renders replies in its schema."""

from ghp_agents.hooks.event import Client, Event, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.messages import DecisionReply, HookFields, HookReply

CLIENT = Client(
    "gemini",
    ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress",
     "SessionEnd", "Notification"),
    # Context after a turn would make it reject its own response, so news waits for the next prompt.
    hears=("start", "prompt", "batch"),
    paths=("file_path", "absolute_path"),
    edits=("replace", "write_file"),
    runs=("run_shell_command",),
    reads=("read_file",),
    searches=("glob", "grep_search", "list_directory", "search_file_content"),
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Gemini CLI; None if we do not handle it."""
    event = CLIENT.parse(payload)
    # Gemini sends PreCompress before each request, not only before it compresses (its issue 18083).
    return None if event is None or event.kind == "compact" else event


def render(event: Event, reply: Reply) -> "HookReply | DecisionReply":
    """The reply to Gemini CLI; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"decision": "deny", "reason": reply.deny}
    if reply.context and event.hears:
        fields: HookFields = {"hookEventName": event.name, "additionalContext": reply.context}
        return {"hookSpecificOutput": fields}
    return {}
