"""Codex: what it really sends is understood; an unknown key would make it drop the whole answer."""

from collections.abc import Mapping
from typing import Any

import pytest

from ghp_agents.hooks import codex
from ghp_agents.hooks.event import EDITED, RAN, READ, USED, Event, Reply, ToolUse
from tests.support.hooks import PAYLOADS, SESSION, payload

PATCHED = ["new.txt", "a.txt", "moved.txt", "sub/moved.txt", "gone.txt"]
EXPECTED: dict[str, dict[str, object]] = {
    "codex-SessionStart-startup": {"kind": "start", "hears": True},
    "codex-SessionStart-compact": {"kind": "start", "hears": True, "goes_on": True},
    "codex-UserPromptSubmit": {"kind": "prompt", "hears": True},
    "codex-PreToolUse-apply_patch": {"kind": "edit", "paths": PATCHED},
    "codex-PreToolUse-Bash-heredoc": {"kind": "edit", "paths": ["shell.txt"]},
    "codex-PostToolUse-apply_patch": {
        "kind": "batch", "hears": True, "tool_uses": [ToolUse(EDITED, PATCHED)],
    },
    "codex-PostToolUse-Bash": {
        "kind": "batch", "hears": True, "tool_uses": [ToolUse(RAN, ["echo hello"])],
    },
    "codex-Stop": {"kind": "stop", "hears": True},
    "codex-PreCompact": {"kind": "compact"},
    "codex-SessionEnd": {"kind": "end"},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.stem for path in PAYLOADS.glob("codex-*.json")))
def test_every_recorded_message_is_the_event_that_it_should_be(name: str) -> None:
    sent = payload(name)
    expected = EXPECTED.get(name)
    if expected is None:
        assert codex.parse(sent) is None
        return
    fields = {"name": sent["hook_event_name"], "session": SESSION, "cwd": "/repo", "paths": []}
    assert codex.parse(sent) == Event("codex", **{**fields, **expected})


def test_all_expected_messages_were_recorded() -> None:
    assert {name for name in EXPECTED if not (PAYLOADS / f"{name}.json").exists()} == set()


PATCH = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", ["a.py"]),
        (f"cd src && apply_patch <<'EOF'\n{PATCH}\nEOF", ["src/a.py"]),
        (f"cd '/repo/my src' && apply_patch <<EOF\n{PATCH}\nEOF", ["/repo/my src/a.py"]),
        (f"cd && apply_patch <<EOF\n{PATCH}\nEOF", ["a.py"]),
        (f"&& apply_patch <<EOF\n{PATCH}\nEOF", ["a.py"]),
        (f"echo '{PATCH}'", None),
        ("apply_patch --help", None),
        ("", None),
        (7, None),
    ],
)
def test_a_patch_in_the_shell_is_an_edit(command: object, paths: list[str] | None) -> None:
    event = codex.parse(payload("codex-PreToolUse-Bash", tool_input={"command": command}))
    assert (event and event.paths) == paths


def test_other_tools_are_told_by_what_they_do() -> None:
    def deed(tool: str, given: object) -> object:
        event = codex.parse(payload("codex-PostToolUse-Bash", tool_name=tool, tool_input=given))
        return event and event.tool_uses

    assert deed("update_plan", {}) == [ToolUse(USED, ["update_plan"])]
    assert deed("view_image", {"path": "a.png"}) == [ToolUse(READ, ["a.png"])]
    assert deed("exec_command", {"cmd": "make"}) == [ToolUse(RAN, ["make"])]
    assert deed("", {}) == ()


def answered(name: str, **answer: str) -> Mapping[str, Any]:
    event = codex.parse(payload(name))
    assert event is not None
    return codex.render(event, Reply(**answer))  # type: ignore[arg-type]


def test_a_refusal_is_a_denied_permission() -> None:
    assert answered("codex-PreToolUse-apply_patch", deny="No.") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "No.",
        }
    }


@pytest.mark.parametrize(
    "name", ["codex-SessionStart-startup", "codex-UserPromptSubmit", "codex-PostToolUse-Bash"]
)
def test_context_is_handed_over_where_the_client_takes_it(name: str) -> None:
    assert answered(name, context="News.") == {
        "hookSpecificOutput": {"hookEventName": name.split("-")[1], "additionalContext": "News."}
    }


def test_news_at_the_end_of_a_turn_are_a_reason_to_go_on_once() -> None:
    assert answered("codex-Stop", context="News.") == {"decision": "block", "reason": "News."}
    again = codex.parse(payload("codex-Stop", stop_hook_active=True))
    assert again is not None
    assert codex.render(again, Reply(context="News.")) == {}


@pytest.mark.parametrize("name", ["codex-PreCompact", "codex-SessionEnd", "codex-Stop"])
def test_nothing_is_said_where_there_is_nothing(name: str) -> None:
    assert answered(name) == {}


@pytest.mark.parametrize("given", [None, [], "x", {}, {"command": 7}, {"command": "no patch"}])
def test_a_patch_of_nothing_is_no_edit(given: object) -> None:
    assert codex.parse(payload("codex-PreToolUse-apply_patch", tool_input=given)) is None
