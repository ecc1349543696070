"""What is listened to is what is handled: an event more would do nothing, one less be missed."""

from typing import Any

import pytest

from ghp_agents.hooks import claude, codex, copilot, cursor, gemini, opencode, pi, qwen
from ghp_agents.integrations.clients.events import CLIENTS, KINDS, HookSubscription

HANDLED: dict[str, Any] = {
    "claude": claude, "codex": codex, "copilot": copilot, "cursor": cursor, "gemini": gemini,
    "opencode": opencode, "pi": pi, "qwen": qwen,
}  # fmt: skip


def test_every_client_that_is_listened_to_is_understood() -> None:
    assert set(CLIENTS) == set(HANDLED)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_event_that_is_listened_to_is_handled_as_what_it_is(client: str) -> None:
    by_event = {listening.event: listening.kind for listening in CLIENTS[client]}
    kinds = dict(HANDLED[client].CLIENT.kinds)
    if client == "gemini":  # it sends the event before each request, so nothing listens to it
        assert kinds.pop("PreCompress") == "compact"
    assert by_event == kinds
    assert tuple(by_event.values()) == tuple(kind for kind in KINDS if kind in kinds.values())


@pytest.mark.parametrize("client", CLIENTS)
def test_only_edits_are_listened_to_for_some_tools_alone(client: str) -> None:
    assert [one.kind for one in CLIENTS[client] if one.tools] == ["edit"]


@pytest.mark.parametrize("client", ["claude", "copilot", "gemini", "opencode", "pi", "qwen"])
def test_an_edit_is_what_the_handler_takes_for_one(client: str) -> None:
    edit = next(one for one in CLIENTS[client] if one.kind == "edit")
    assert set(edit.tools) == set(HANDLED[client].CLIENT.edits)


def test_a_matcher_names_the_tools() -> None:
    assert HookSubscription("BeforeTool", "edit", 10, ("replace", "write_file")).matcher == (
        "replace|write_file"
    )
    assert HookSubscription("Stop", "stop", 10).matcher == ""
