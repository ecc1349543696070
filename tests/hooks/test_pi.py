"""pi: the messages of our extension are understood."""

from typing import Any

import pytest

from ghp_agents.hooks import pi
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, ToolUse


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "s-1", "cwd": "/repo", "pid": 4321, **fields}


def tool(event: str, name: str, **given: Any) -> dict[str, Any]:
    return message(event, tool_name=name, tool_input=given)


def deed(name: str, given: dict[str, Any], expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    return tool("tool_result", name, **given), {
        "kind": "batch", "hears": True, "tool_uses": [expected],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("session_start"), {"kind": "start", "hears": True}),
        (message("before_agent_start"), {"kind": "prompt", "hears": True}),
        (
            tool("tool_call", "edit", path="src/a", edits=[{"oldText": "x", "newText": "y"}]),
            {"kind": "edit", "paths": ["src/a"]},
        ),
        (tool("tool_call", "write", path="/repo/a"), {"kind": "edit", "paths": ["/repo/a"]}),
        (tool("tool_call", "write"), {"kind": "edit", "paths": []}),
        (tool("tool_call", "bash", command="rm a"), None),
        deed("write", {"path": "/repo/a"}, ToolUse(EDITED, ["/repo/a"])),
        deed("bash", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("read", {"path": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("grep", {"pattern": "x"}, ToolUse(SEARCHED, [])),
        deed("todo", {}, ToolUse(USED, ["todo"])),
        (message("agent_end"), {"kind": "stop"}),
        (message("session_before_compact"), {"kind": "compact"}),
        (message("session_shutdown"), {"kind": "end"}),
        (message("turn_end"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "s-1", "cwd": "/repo", "pid": 4321}
    wanted = None if expected is None else Event("pi", **fields, **expected)
    assert pi.parse(sent) == wanted
