"""Qwen Code: its messages are understood, and answered in Claude Code's schema."""

from typing import Any

import pytest

from ghp_agents.hooks import qwen
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, Reply, ToolUse


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "s-1", "cwd": "/repo", **fields}


def tool(event: str, name: str, **given: Any) -> dict[str, Any]:
    return message(event, tool_name=name, tool_input=given)


def deed(name: str, given: dict[str, Any], expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    return tool("PostToolUse", name, **given), {
        "kind": "batch", "hears": True, "tool_uses": [expected],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("SessionStart", source="startup"), None),  # what is said then reaches no model
        (message("UserPromptSubmit", prompt="Do it."), {"kind": "prompt", "hears": True}),
        (message("UserPromptSubmit", prompt=""), {"kind": "batch", "hears": True}),
        (tool("PreToolUse", "edit", file_path="/repo/a"), {"kind": "edit", "paths": ["/repo/a"]}),
        (tool("PreToolUse", "write_file", file_path="a"), {"kind": "edit", "paths": ["a"]}),
        (tool("PreToolUse", "read_file", file_path="/repo/a"), None),
        deed("edit", {"file_path": "/repo/a"}, ToolUse(EDITED, ["/repo/a"])),
        deed("run_shell_command", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("read_file", {"file_path": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("glob", {"pattern": "*"}, ToolUse(SEARCHED, [])),
        deed("agent", {"prompt": "x"}, ToolUse(USED, ["agent"])),
        (message("Stop", stop_hook_active=True), {"kind": "stop"}),
        (message("PreCompact", trigger="auto"), {"kind": "compact"}),
        (message("SessionEnd", reason="clear"), {"kind": "end", "goes_on": True}),
        (message("Notification", message="?"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "s-1", "cwd": "/repo"}
    wanted = None if expected is None else Event("qwen", **fields, **expected)
    if wanted:  # a tool may be a sub-agent's; an agent's own request follows its tools
        wanted.takes_news = sent["hook_event_name"] != "PostToolUse"
    assert qwen.parse(sent) == wanted


def test_an_answer_is_in_its_schema() -> None:
    edit = qwen.parse(tool("PreToolUse", "edit", file_path="a"))
    prompt = qwen.parse(message("UserPromptSubmit", prompt="Do it."))
    assert edit
    assert prompt
    assert qwen.render(edit, Reply(deny="No.")) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "No.",
        }
    }
    assert qwen.render(prompt, Reply(context="News.")) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "News."}
    }
