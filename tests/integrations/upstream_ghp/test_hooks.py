"""Our hooks with upstream's `ghp`: their words, and what is read of those that it has."""

import re
import shlex

import pytest

from ghp_agents.cli.app import HIDDEN
from ghp_agents.integrations.upstream_ghp import hooks as upstream_hook
from ghp_agents.integrations.upstream_ghp.hooks import Hook

PYTHON = "/opt/a b/python"


def test_each_event_has_a_hook_that_names_no_more_than_the_events_file() -> None:
    hooks = upstream_hook.wanted(PYTHON)
    assert [hook.event for hook in hooks] == [*upstream_hook.EVENTS, ""]
    for hook in hooks[:-1]:
        assert hook.command == (
            f"'/opt/a b/python' -P -m ghp_agents agent-event {hook.event} ${{_event_file}}"
        )
    assert hooks[-1].command == "'/opt/a b/python' -P -m ghp_agents agent-dashboard"


def test_the_names_are_those_that_upstream_takes() -> None:
    for hook in upstream_hook.wanted(PYTHON):
        assert re.fullmatch(r"[\w-]{1,63}", hook.name)


def test_what_the_hooks_call_are_commands_of_ours() -> None:
    for hook in upstream_hook.wanted(PYTHON):
        assert shlex.split(hook.command)[4] in HIDDEN


def test_the_words_that_add_and_remove_them() -> None:
    event = Hook("ghp-agents-pr-merged", "C", "pr-merged")
    assert event.to_add == [
        "hooks", "add", "ghp-agents-pr-merged", "--command", "C",
        "--display-name", "Agents: pr-merged", "--event", "pr-merged", "--timeout", "30000",
    ]  # fmt: skip
    assert event.to_remove == ["hooks", "remove", "ghp-agents-pr-merged"]
    dashboard = Hook("ghp-agents", "C")
    assert dashboard.to_add == [
        "dashboard", "hooks", "add", "ghp-agents", "--command", "C",
        "--display-name", "Agents", "--category", "agents", "--timeout", "5000",
    ]  # fmt: skip
    assert dashboard.to_remove == ["dashboard", "hooks", "remove", "ghp-agents"]


def test_of_upstreams_hooks_only_ours_are_read() -> None:
    document = {
        "hooks": [
            {"name": "ragtime", "event": "issue-started", "command": "ragtime"},
            {"name": "ghp-agents-x", "event": "pr-merged", "command": "C", "enabled": False},
            {"name": "ghp-agentsx", "event": "pr-merged", "command": "C"},
            "odd", {"name": 5},
        ]
    }  # fmt: skip
    assert upstream_hook.registered(document, dashboard=False) == [
        Hook("ghp-agents-x", "C", "pr-merged")
    ]
    assert upstream_hook.registered(document, dashboard=True) == [Hook("ghp-agents-x", "C")]
    assert upstream_hook.registered({}, dashboard=True) == []


@pytest.mark.parametrize("document", [[], "x", None, {"hooks": {}}, {"hooks": None}])
def test_what_is_no_file_of_hooks_is_not_taken_for_an_empty_one(document: object) -> None:
    with pytest.raises(ValueError, match="no list"):
        upstream_hook.registered(document, dashboard=False)
