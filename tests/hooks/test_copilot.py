"""Copilot CLI: its messages are understood, and answered in its schema."""

from typing import Any

import pytest

from ghp_agents.hooks import copilot
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, Reply, ToolUse

PATCH = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+z\n*** End Patch"
PART = {"session_id": "s-2", "agent_id": "s-2", "parent_agent_id": "s-1"}  # of a sub-agent


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "s-1", "cwd": "/repo", **fields}


def tool(event: str, name: str, given: Any) -> dict[str, Any]:
    return message(event, tool_name=name, tool_input=given)


def deed(name: str, given: Any, expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    return tool("PostToolUse", name, given), {
        "kind": "batch", "hears": True, "tool_uses": [expected],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("SessionStart", source="new"), {"kind": "start", "hears": True}),
        (message("UserPromptSubmit", prompt="Do it."), {"kind": "prompt", "hears": True}),
        (message("UserPromptSubmit", **PART), {"kind": "prompt"}),
        (
            tool("PreToolUse", "Edit", {"path": "/repo/a", "old_str": "x", "new_str": "y"}),
            {"kind": "edit", "paths": ["/repo/a"], "hears": True},
        ),
        (
            tool("PreToolUse", "Write", {"path": "/repo/a", "file_text": "x"}) | PART,
            {"kind": "edit", "paths": ["/repo/a"]},
        ),
        (
            tool("PreToolUse", "Edit", PATCH),
            {"kind": "edit", "paths": ["a", "b"], "hears": True},
        ),
        (tool("PreToolUse", "Edit", 7), {"kind": "edit", "paths": [], "hears": True}),
        (tool("PreToolUse", "Bash", {"command": "rm a"}), None),
        deed("Edit", PATCH, ToolUse(EDITED, ["a", "b"])),
        deed("Bash", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("Read", {"path": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("Grep", {"pattern": "x"}, ToolUse(SEARCHED, [])),
        deed("Agent", {"prompt": "x"}, ToolUse(USED, ["Agent"])),
        (message("Stop", stop_hook_active=False), {"kind": "stop", "hears": True}),
        (message("Stop", stop_hook_active=True), {"kind": "stop"}),
        (message("Stop", stop_hook_active=False, **PART), None),
        (message("PreCompact", trigger="auto"), {"kind": "compact"}),
        (message("SessionEnd", reason="complete"), {"kind": "end"}),
        (message("Notification", message="?"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "s-1", "cwd": "/repo"}
    wanted = None if expected is None else Event("copilot", **fields, **expected)
    assert copilot.parse(sent) == wanted


@pytest.mark.parametrize(
    ("sent", "reply", "answer"),
    [
        (
            tool("PreToolUse", "Edit", {"path": "a"}),
            Reply(deny="No."),
            {"permissionDecision": "deny", "permissionDecisionReason": "No."},
        ),
        (
            tool("PreToolUse", "Edit", {"path": "a"}),
            Reply(context="Mind."),
            {"additionalContext": "Mind."},
        ),
        (message("UserPromptSubmit"), Reply(context="News."), {"additionalContext": "News."}),
        (message("UserPromptSubmit", **PART), Reply(context="News."), {}),
        (
            message("Stop", stop_hook_active=False),
            Reply(context="News."),
            {"decision": "block", "reason": "News."},
        ),
        (message("Stop", stop_hook_active=True), Reply(context="News."), {}),
        (message("SessionStart"), Reply(environ={"GHP_AGENT": "worker-1"}), {}),
    ],
)
def test_an_answer_is_in_its_schema(
    sent: dict[str, Any], reply: Reply, answer: dict[str, Any]
) -> None:
    event = copilot.parse(sent)
    assert event is not None
    assert copilot.render(event, reply) == answer


@pytest.mark.parametrize(
    ("event", "moment", "expected"),
    [
        ("Stop", "2026-11-24T19:40:28.443Z", b'"timestamp":1795549228443'),
        ("SessionEnd", "2026-11-24T19:40:28.443Z", b""),
        ("Stop", "yesterday", b""),
        ("Stop", 7, b""),
    ],
)
def test_the_last_line_of_a_session_names_the_time_of_its_stop(
    event: str, moment: object, expected: bytes
) -> None:
    parsed = copilot.parse(message(event, timestamp=moment))
    assert parsed is not None
    assert parsed.last_line == expected
