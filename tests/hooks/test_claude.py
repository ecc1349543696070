"""Claude Code: what it really sends is understood, and it is answered in its own schema."""

from collections.abc import Mapping
from typing import Any

import pytest

from ghp_agents.hooks import claude
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, Event, Reply, ToolUse
from tests.support.hooks import PAYLOADS, SESSION, payload

EXPECTED: dict[str, dict[str, object]] = {
    "claude-SessionStart-startup": {"kind": "start", "hears": True},
    "claude-SessionStart-resume": {"kind": "start", "hears": True, "resumed": True},
    "claude-SessionStart-compact": {"kind": "start", "hears": True, "goes_on": True},
    "claude-UserPromptSubmit": {"kind": "prompt", "hears": True},
    "claude-UserPromptSubmit-notification": {"kind": "prompt", "hears": True},
    "claude-PreToolUse-Write": {"kind": "edit", "hears": True, "paths": ["/repo/new.txt"]},
    "claude-PreToolUse-Write-subagent": {"kind": "edit", "paths": ["/repo/sub.txt"]},
    "claude-PreToolUse-Edit": {"kind": "edit", "hears": True, "paths": ["/repo/a.txt"]},
    "claude-PreToolUse-NotebookEdit": {"kind": "edit", "hears": True, "paths": ["/repo/n.ipynb"]},
    "claude-PostToolBatch": {
        "kind": "batch",
        "hears": True,
        "tool_uses": [
            ToolUse(EDITED, ["/repo/new.txt"]),
            ToolUse(RAN, ["echo hello; false"]),
            ToolUse(READ, ["/repo/a.txt"]),
        ],
    },
    "claude-PostToolBatch-subagent": {
        "kind": "batch",
        "tool_uses": [ToolUse(EDITED, ["/repo/sub.txt"])],
    },
    "claude-Stop": {"kind": "stop", "hears": True},
    "claude-PreCompact": {"kind": "compact"},
    "claude-SessionEnd": {"kind": "end"},
}


@pytest.mark.parametrize("name", sorted(path.stem for path in PAYLOADS.glob("claude-*.json")))
def test_every_recorded_message_is_the_event_that_it_should_be(name: str) -> None:
    sent = payload(name)
    expected = EXPECTED.get(name)
    if expected is None:  # an event, or a tool, that is none of ours
        assert claude.parse(sent) is None
        return
    fields = {"name": sent["hook_event_name"], "session": SESSION, "cwd": "/repo", **expected}
    assert claude.parse(sent) == Event("claude", **fields)


def test_all_expected_messages_were_recorded() -> None:
    assert {name for name in EXPECTED if not (PAYLOADS / f"{name}.json").exists()} == set()


@pytest.mark.parametrize("active", [True, None, "false", 1])
def test_a_turn_that_a_hook_prolonged_is_not_prolonged_again(active: object) -> None:
    event = claude.parse(payload("claude-Stop", stop_hook_active=active))
    assert event is not None
    assert not event.hears
    assert claude.render(event, Reply(context="news")) == {}


def test_a_call_that_was_refused_is_nothing_that_the_agent_did() -> None:
    calls = [
        {"tool_name": "Edit", "tool_input": {"file_path": "/repo/a"}, "tool_response": "Done."},
        {
            "tool_name": "Write",
            "tool_input": {"file_path": "/repo/b"},
            "tool_response": "PreToolUse:Write hook error: /repo/b is leased by worker-2",
        },
        {"tool_name": "Grep", "tool_input": {"pattern": "x"}, "tool_response": ""},
        {"tool_name": "mcp__db__query", "tool_input": None, "tool_response": []},
        {"tool_name": 7},
        "no call",
    ]
    event = claude.parse(payload("claude-PostToolBatch", tool_calls=calls))
    assert event is not None
    assert event.tool_uses == [
        ToolUse(EDITED, ["/repo/a"]),
        ToolUse(SEARCHED, []),
        ToolUse(USED, ["mcp__db__query"]),
    ]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("claude-PreToolUse-Write", {"hook_event_name": "Later"}),
        ("claude-PreToolUse-Write", {"hook_event_name": None}),
        ("claude-PreToolUse-Write", {"tool_name": "WriteElsewhere"}),
        ("claude-PreToolUse-Write", {"tool_name": ["Write"]}),
    ],
)
def test_what_is_no_event_of_ours_is_none(name: str, changes: dict[str, Any]) -> None:
    assert claude.parse(payload(name, **changes)) is None


@pytest.mark.parametrize("given", [None, [], "x", {}, {"file_path": 7}, {"file_path": ""}])
def test_an_edit_without_a_path_is_an_edit_of_nothing(given: object) -> None:
    event = claude.parse(payload("claude-PreToolUse-Edit", tool_input=given))
    assert event is not None
    assert not event.paths


def answered(name: str, **answer: str) -> Mapping[str, Any]:
    event = claude.parse(payload(name))
    assert event is not None
    return claude.render(event, Reply(**answer))  # type: ignore[arg-type]


def test_a_refusal_is_a_denied_permission() -> None:
    assert answered("claude-PreToolUse-Write", deny="No.") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "No.",
        }
    }


@pytest.mark.parametrize(
    "name",
    [
        "claude-SessionStart-resume",
        "claude-UserPromptSubmit",
        "claude-PostToolBatch",
        "claude-Stop",
    ],
)
def test_context_is_handed_over_where_the_client_takes_it(name: str) -> None:
    assert answered(name, context="News.") == {
        "hookSpecificOutput": {
            "hookEventName": name.split("-")[1],
            "additionalContext": "News.",
        }
    }


@pytest.mark.parametrize("name", ["claude-PreCompact", "claude-SessionEnd"])
def test_nothing_is_said_where_it_would_not_be_heard(name: str) -> None:
    assert answered(name, context="News.") == {}
    assert answered(name) == {}


def test_a_sub_agent_takes_no_news_from_the_agent() -> None:
    event = claude.parse(payload("claude-PostToolBatch", agent_id="a1b2", agent_type="general"))
    assert event is not None
    assert (event.kind, event.hears) == ("batch", False)
