"""Whatever a client sends, it is an event or it is none: no message makes a client's file fail."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghp_agents.hooks import claude, codex, copilot, cursor, gemini, opencode, pi, qwen
from ghp_agents.hooks.action import action
from ghp_agents.hooks.event import Event, Reply, ToolUse
from ghp_agents.hooks.paths import resolved
from ghp_agents.integrations.clients.events import CLIENTS, KINDS
from tests.support.schemas import breaches
from tests.support.thorough import mostly_slow

HANDLED: dict[str, Any] = {
    "claude": claude, "codex": codex, "copilot": copilot, "cursor": cursor, "gemini": gemini,
    "opencode": opencode, "pi": pi, "qwen": qwen,
}  # fmt: skip
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["apply_patch", "*** Add File: a\0b", "/a/../b", "~"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "session_id", "conversation_id", "cwd", "workspace_roots", "tool_name", "tool_input",
    "tool_calls", "tool_response", "stop_hook_active", "status", "loop_count", "source", "pid",
    "agent_id", "parent_agent_id", "prompt",
)  # fmt: skip
INPUTS = (
    "file_path", "notebook_path", "path", "filePath", "command", "cmd", "patchText", "target_file",
)  # fmt: skip


def messages(client: str) -> st.SearchStrategy[dict[str, Any]]:
    """Messages that come near to what the client sends."""
    events = [one.event for one in CLIENTS[client]]
    tools = [tool for one in CLIENTS[client] for tool in one.tools]
    given_to = st.dictionaries(st.sampled_from(INPUTS), VALUES) | VALUES
    tool = st.sampled_from([*tools, "Bash", "Read", "mcp__a__b"]) | VALUES
    call = st.fixed_dictionaries({"tool_name": tool, "tool_input": given_to}) | VALUES
    near = {"tool_name": tool, "tool_input": given_to, "tool_calls": st.lists(call) | VALUES}
    rest = st.dictionaries(st.sampled_from(KEYS), VALUES)
    name = st.sampled_from(events) | VALUES
    return st.builds(
        lambda event, message, more: {**more, **message, "hook_event_name": event},
        name,
        st.fixed_dictionaries({}, optional=near),
        rest,
    )


@pytest.mark.slow
@pytest.mark.parametrize("client", mostly_slow(HANDLED, every=5))
@settings(max_examples=25)
@given(data=st.data())
def test_a_message_is_an_event_or_none(client: str, data: st.DataObject) -> None:
    event = HANDLED[client].parse(data.draw(messages(client)))
    if event is None:
        return
    assert isinstance(event, Event)
    assert event.kind in KINDS
    assert event.session is None or isinstance(event.session, str)
    assert event.cwd is None or isinstance(event.cwd, str)
    assert all(event.paths)
    assert all(isinstance(deed, ToolUse) for deed in event.tool_uses)
    assert event.pid is None or type(event.pid) is int
    for path in event.paths:
        resolved(path, event.cwd)
    assert action(event.tool_uses, event.cwd, "/repo").isprintable()


@pytest.mark.parametrize("client", mostly_slow(HANDLED, every=5))
@settings(max_examples=25)
@given(data=st.data(), deny=st.text(max_size=5), context=st.text(max_size=5))
def test_an_answer_has_what_is_to_be_said_or_is_empty(
    client: str, data: st.DataObject, deny: str, context: str
) -> None:
    event = HANDLED[client].parse(data.draw(messages(client)))
    if event is None:
        return
    rendered = HANDLED[client].render(event, Reply(deny=deny, context=context))
    refused = bool(deny) and event.kind == "edit"
    heard = bool(context) and event.hears
    assert bool(rendered) == (refused or heard)
    assert breaches(f"hook/{client}-reply", rendered) == []
