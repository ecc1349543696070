"""Cursor: its documented messages are understood, and answered in its schema."""

from typing import Any

import pytest

from ghp_agents.hooks import cursor
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, Reply, ToolUse

COMMON = {
    "conversation_id": "c-1",
    "generation_id": "g-1",
    "model": "default",
    "cursor_version": "3.1.0",
    "workspace_roots": ["/repo", "/other"],
    "user_email": "person@example.com",
}


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {**COMMON, "hook_event_name": event, **fields}


def tool(event: str, name: str, **given: Any) -> dict[str, Any]:
    return message(event, tool_name=name, tool_input=given, cwd="/repo/src", tool_use_id="t-1")


def deed(name: str, given: dict[str, Any], expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    fields = {"kind": "batch", "hears": True, "tool_uses": [expected], "cwd": "/repo/src"}
    return tool("postToolUse", name, **given), fields


def edit(name: str, given: dict[str, Any], paths: Any) -> tuple[Any, dict[str, Any]]:
    return tool("preToolUse", name, **given), {"kind": "edit", "paths": paths, "cwd": "/repo/src"}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("sessionStart", session_id="s-9"), {"kind": "start", "hears": True}),
        (message("beforeSubmitPrompt", prompt="Do it."), {"kind": "prompt"}),
        edit("Write", {"file_path": "/repo/a", "content": "x"}, ["/repo/a"]),
        edit("Write", {"path": "a"}, ["a"]),
        edit("Delete", {"target_file": "/repo/a"}, ["/repo/a"]),
        edit("Write", {}, ()),
        (tool("preToolUse", "Shell", command="rm a"), None),
        deed("Write", {"file_path": "/repo/a"}, ToolUse(EDITED, ["/repo/a"])),
        deed("Shell", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("Read", {"file_path": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("Grep", {"pattern": "x"}, ToolUse(SEARCHED, [])),
        deed("Task", {"prompt": "x"}, ToolUse(USED, ["Task"])),
        (message("stop", status="completed", loop_count=0), {"kind": "stop", "hears": True}),
        (message("stop", status="completed", loop_count=1), {"kind": "stop"}),
        (message("stop", status="aborted", loop_count=0), {"kind": "stop"}),
        (message("preCompact", trigger="auto"), {"kind": "compact"}),
        (message("sessionEnd", reason="user_close"), {"kind": "end"}),
        (message("afterFileEdit", file_path="/repo/a"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "c-1", "cwd": "/repo"}
    wanted = None if expected is None else Event("cursor", **{**fields, **expected})
    assert cursor.parse(sent) == wanted


@pytest.mark.parametrize("roots", [None, [], [7], "x", [""]])
def test_without_a_folder_none_is_told(roots: object) -> None:
    event = cursor.parse(message("preCompact", workspace_roots=roots))
    assert event is not None
    assert event.cwd is None


@pytest.mark.parametrize(
    ("sent", "reply", "answer"),
    [
        (
            tool("preToolUse", "Write", file_path="a"),
            Reply(deny="No."),
            {"permission": "deny", "user_message": "No.", "agent_message": "No."},
        ),
        (message("sessionStart"), Reply(context="Go on."), {"additional_context": "Go on."}),
        (
            tool("postToolUse", "Read", file_path="a"),
            Reply(context="News."),
            {"additional_context": "News."},
        ),
        (
            message("stop", status="completed", loop_count=0),
            Reply(context="News."),
            {"followup_message": "News."},
        ),
        (message("stop", status="completed", loop_count=1), Reply(context="News."), {}),
        (message("beforeSubmitPrompt"), Reply(context="News."), {}),
        (message("preCompact"), Reply(), {}),
    ],
)
def test_an_answer_is_in_its_schema(
    sent: dict[str, Any], reply: Reply, answer: dict[str, Any]
) -> None:
    event = cursor.parse(sent)
    assert event is not None
    assert cursor.render(event, reply) == answer
