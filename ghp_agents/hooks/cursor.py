"""Cursor: parses its events, and renders replies in its schema."""

from ghp_agents.hooks.event import Client, Event, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.messages import CursorReply

CLIENT = Client(
    "cursor",
    ("sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "preCompact",
     "sessionEnd"),
    hears=("start", "batch", "stop"),  # a prompt can be blocked, but takes no context
    paths=("file_path", "path", "target_file", "target_notebook"),
    edits=("Delete", "Edit", "Write"),
    runs=("Shell",),
    reads=("Read",),
    searches=("Glob", "Grep"),
    sessions=("conversation_id", "session_id"),
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Cursor; None if we do not handle it."""
    event = CLIENT.parse(payload)
    if event:
        event.cwd = event.cwd or _root(payload)
        event.hears |= event.kind == "stop" and _is_first_end(payload)
        event.transcript = ""  # it has no counts
        if event.kind == "stop" and "input_tokens" in payload:
            event.reported = _used(payload)
        if event.kind == "stop" and payload.get("status") == "error":
            event.kind = "fail"
    return event


def _used(payload: "Mapping[str, Any]") -> "dict[str, Any]":
    """What a turn used; its input includes what came from the cache."""
    return {
        "turn": payload.get("generation_id"),
        "inputTokens": payload.get("input_tokens"),
        "cachedTokens": payload.get("cache_read_tokens"),
        "outputTokens": payload.get("output_tokens"),
    }


def _root(payload: "Mapping[str, Any]") -> str | None:
    """The open folder; most events name no other."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else None
    return first if isinstance(first, str) and first else None


def _is_first_end(payload: "Mapping[str, Any]") -> bool:
    """Whether the agent ended by itself: not stopped by its user and not continued by us."""
    return payload.get("status") == "completed" and payload.get("loop_count", 0) == 0


def render(event: Event, reply: Reply) -> "CursorReply":
    """The reply to Cursor; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"permission": "deny", "user_message": reply.deny, "agent_message": reply.deny}
    if not (reply.context and event.hears):
        return {}
    if event.kind == "stop":
        return {"followup_message": reply.context}
    return {"additional_context": reply.context}
