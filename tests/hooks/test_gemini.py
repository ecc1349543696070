"""Gemini CLI: its documented messages are understood, and answered in its schema."""

from typing import Any

import pytest

from ghp_agents.hooks import gemini
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, Reply, ToolUse

COMMON = {
    "session_id": "s-1",
    "transcript_path": "/home/person/.gemini/tmp/chat.json",
    "cwd": "/repo",
    "timestamp": "2026-01-02T03:04:05.678Z",
}


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {**COMMON, "hook_event_name": event, **fields}


def tool(event: str, name: str, **given: Any) -> dict[str, Any]:
    response = {"tool_response": {"llmContent": "ok"}} if event == "AfterTool" else {}
    return message(event, tool_name=name, tool_input=given, **response)


def deed(name: str, given: dict[str, Any], expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    return tool("AfterTool", name, **given), {
        "kind": "batch",
        "hears": True,
        "tool_uses": [expected],
    }


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("SessionStart", source="startup"), {"kind": "start", "hears": True}),
        (message("BeforeAgent", prompt="Do it."), {"kind": "prompt", "hears": True}),
        (
            tool("BeforeTool", "write_file", file_path="/repo/a", content="x"),
            {"kind": "edit", "paths": ["/repo/a"]},
        ),
        (
            tool("BeforeTool", "replace", file_path="src/a", old_string="x", new_string="y"),
            {"kind": "edit", "paths": ["src/a"]},
        ),
        (tool("BeforeTool", "replace"), {"kind": "edit", "paths": ()}),
        (tool("BeforeTool", "read_file", file_path="/repo/a"), None),
        deed("write_file", {"file_path": "/repo/a"}, ToolUse(EDITED, ["/repo/a"])),
        deed("run_shell_command", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("read_file", {"absolute_path": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("glob", {"pattern": "*"}, ToolUse(SEARCHED, [])),
        deed("save_memory", {"fact": "x"}, ToolUse(USED, ["save_memory"])),
        (message("AfterAgent", prompt_response="Done."), {"kind": "stop"}),
        (message("PreCompress", trigger="auto"), None),
        (message("SessionEnd", reason="exit"), {"kind": "end"}),
        (message("Notification", message="?"), {"kind": "wait", "hears": False}),
        (message("BeforeModel", llm_request={}), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "s-1", "cwd": "/repo"}
    wanted = None if expected is None else Event("gemini", **fields, **expected)
    assert gemini.parse(sent) == wanted


@pytest.mark.parametrize(
    ("sent", "reply", "answer"),
    [
        (
            tool("BeforeTool", "write_file", file_path="a"),
            Reply(deny="No."),
            {"decision": "deny", "reason": "No."},
        ),
        (
            message("BeforeAgent"),
            Reply(context="News."),
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "News."}},
        ),
        (message("AfterAgent"), Reply(context="News."), {}),  # it would reject what was answered
        (message("SessionStart"), Reply(environ={"GHP_AGENT": "worker-1"}), {}),
    ],
)
def test_an_answer_is_in_its_schema(
    sent: dict[str, Any], reply: Reply, answer: dict[str, Any]
) -> None:
    event = gemini.parse(sent)
    assert event is not None
    assert gemini.render(event, reply) == answer
