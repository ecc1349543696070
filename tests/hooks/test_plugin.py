"""The protocol between our plugins and this program, which is the same for each client."""

from typing import Any

import pytest

from ghp_agents.hooks import opencode, pi, plugin
from ghp_agents.hooks.event import Reply

V1 = {"schemaVersion": 1}


def parsed(client: Any, name: str, **fields: Any) -> Any:
    event = plugin.parse(client.CLIENT, {"hook_event_name": name, "session_id": "s-1", **fields})
    assert event is not None
    return event


@pytest.mark.parametrize("pid", [None, 0, -1, True, "4321", 1.5])
def test_what_is_no_process_is_none(pid: object) -> None:
    assert parsed(pi, "session_shutdown", pid=pid).pid is None
    assert parsed(pi, "session_shutdown", pid=4321).pid == 4321


def test_what_no_plugin_sends_is_no_event() -> None:
    assert plugin.parse(pi.CLIENT, {"hook_event_name": "turn_end", "pid": 4321}) is None


@pytest.mark.parametrize(
    ("names", "reply", "answer"),
    [
        (("tool.execute.before", "tool_call"), Reply(deny="No."), {"deny": "No.", **V1}),
        (
            ("session.start", "session_start"),
            Reply(context="Go on.", environ={"GHP_AGENT": "worker-1"}),
            {"context": "Go on.", "env": {"GHP_AGENT": "worker-1"}, **V1},
        ),
        (
            ("chat.message", "before_agent_start"),
            Reply(context="News."),
            {"context": "News.", **V1},
        ),
        (("session.idle", "agent_end"), Reply(context="News."), {}),
        (("session.end", "session_shutdown"), Reply(), {}),
    ],
)
def test_an_answer_is_what_the_plugin_does(
    names: tuple[str, str], reply: Reply, answer: dict[str, Any]
) -> None:
    for client, name in zip((opencode, pi), names, strict=True):
        tool = {"tool_name": "write", "tool_input": {}}
        assert plugin.render(parsed(client, name, **tool), reply) == answer
