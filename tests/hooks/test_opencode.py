"""OpenCode: the protocol between its plugin and this program."""

from typing import Any

import pytest

from ghp_agents.hooks import opencode
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, ToolUse


def message(event: str, **fields: Any) -> dict[str, Any]:
    return {
        "hook_event_name": event, "session_id": "ses_1", "cwd": "/repo", "pid": 4321, **fields,
    }  # fmt: skip


def tool(event: str, name: str, **given: Any) -> dict[str, Any]:
    return message(event, tool_name=name, tool_input=given)


def deed(name: str, given: dict[str, Any], expected: ToolUse) -> tuple[Any, dict[str, Any]]:
    fields = {"kind": "batch", "hears": True, "tool_uses": [expected]}
    return tool("tool.execute.after", name, **given), fields


def edit(name: str, given: dict[str, Any], paths: Any) -> tuple[Any, dict[str, Any]]:
    return tool("tool.execute.before", name, **given), {"kind": "edit", "paths": paths}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (message("session.start"), {"kind": "start", "hears": True}),
        (message("chat.message"), {"kind": "prompt", "hears": True}),
        edit("edit", {"filePath": "/repo/a", "oldString": "x", "newString": "y"}, ["/repo/a"]),
        edit("write", {"filePath": "/repo/a"}, ["/repo/a"]),
        edit("patch", {"patchText": "*** Add File: a\n*** Delete File: b"}, ["a", "b"]),
        edit("apply_patch", {"patchText": 7}, []),
        edit("write", {}, []),
        (tool("tool.execute.before", "bash", command="rm a"), None),
        deed("write", {"filePath": "/repo/a"}, ToolUse(EDITED, ["/repo/a"])),
        deed("bash", {"command": "make test"}, ToolUse(RAN, ["make test"])),
        deed("read", {"filePath": "/repo/a"}, ToolUse(READ, ["/repo/a"])),
        deed("grep", {"pattern": "x"}, ToolUse(SEARCHED, [])),
        deed("task", {}, ToolUse(USED, ["task"])),
        (message("session.idle"), {"kind": "stop"}),
        (message("session.compacting"), {"kind": "compact"}),
        (message("session.end"), {"kind": "end"}),
        (message("file.edited"), None),
    ],
)
def test_a_message_is_the_event_that_it_should_be(
    sent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    fields = {"name": sent["hook_event_name"], "session": "ses_1", "cwd": "/repo", "pid": 4321}
    wanted = None if expected is None else Event("opencode", **fields, **expected)
    assert opencode.parse(sent) == wanted


def test_a_sub_agent_hears_no_news() -> None:
    sent = tool("tool.execute.after", "read", filePath="/repo/a") | {"agent_id": "ses_2"}
    event = opencode.parse(sent)
    assert event is not None
    assert (event.session, event.hears) == ("ses_1", False)
