"""Our own client for endpoints: its messages are understood."""

from typing import Any

import pytest

from ghp_agents.hooks import openai
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, Event, Reply, ToolUse


def message(event: str, tool: str = "", **given: str) -> dict[str, Any]:
    named = {"tool_name": tool, "tool_input": given} if tool else {}
    return {"hook_event_name": event, "session_id": "0123456789ab", "cwd": "/repo", **named}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("session_start"), {"kind": "start", "hears": True}),
        (message("before_tool", "write", path="/repo/a"), {"kind": "edit", "paths": ["/repo/a"]}),
        (message("before_tool", "run", command="rm a"), None),
        (message("after_tool", "edit", path="a"), ToolUse(EDITED, ["a"])),
        (message("after_tool", "run", command="make"), ToolUse(RAN, ["make"])),
        (message("after_tool", "read", path="a"), ToolUse(READ, ["a"])),
        (message("after_tool", "list"), ToolUse(SEARCHED, [])),
        ({**message("turn_end"), "stop_hook_active": False}, {"kind": "stop", "hears": True}),
        (message("session_end"), {"kind": "end"}),
        (message("other"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | ToolUse | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "0123456789ab", "cwd": "/repo"}
    if isinstance(expected, ToolUse):
        expected = {"kind": "batch", "hears": True, "tool_uses": [expected]}
    wanted = None if expected is None else Event("openai", **fields, **expected)
    assert openai.parse(sent) == wanted


def test_a_refusal_and_news_are_told() -> None:
    edit = openai.parse(message("before_tool", "write", path="a"))
    ended = openai.parse({**message("turn_end"), "stop_hook_active": False})
    assert edit
    assert ended
    assert openai.render(edit, Reply(deny="No.")) == {"schemaVersion": 1, "deny": "No."}
    assert openai.render(ended, Reply(context="News.")) == {"schemaVersion": 1, "context": "News."}
