"""An agent that waits for its person is shown so, until its next event."""

from pathlib import Path

import pytest

from tests.support.hooks import SILENT, call, log, payload, presence, set_up

CLAUDE = {"hook_event_name": "Notification", "session_id": "s-1", "message": "May I use Bash?"}


def notify(repo: Path, kind: str, client: str = "claude") -> None:
    sent = {**CLAUDE, "cwd": str(repo), "notification_type": kind}
    assert call(client, sent, repo) == SILENT


def state(repo: Path) -> tuple[str, str]:
    fields = presence(repo)
    return fields["status"], fields["lastAction"]


@pytest.mark.parametrize(
    ("client", "kind", "shown"),
    [
        ("claude", "permission_prompt", "Waits for its person: a permission"),
        ("claude", "idle_prompt", "Waits for its person"),
        ("gemini", "ToolPermission", "Waits for its person: a permission"),
    ],
)
def test_a_notification_shows_what_the_agent_waits_for(
    repo: Path, client: str, kind: str, shown: str
) -> None:
    set_up(repo)
    notify(repo, kind, client)
    assert state(repo) == ("waiting", shown)
    assert log(repo) == []


def test_the_next_step_ends_the_wait(repo: Path) -> None:
    set_up(repo)
    call("claude", payload("claude-UserPromptSubmit", repo, session_id="s-1"), repo)
    notify(repo, "permission_prompt")
    call("claude", payload("claude-PostToolBatch", repo, session_id="s-1"), repo)
    assert presence(repo)["status"] == "implementing"
    assert not presence(repo)["lastAction"].startswith("Waits")


@pytest.mark.parametrize("kind", ["auth_success", "agent_completed", "", "permission_prompt\x1b"])
@pytest.mark.sample(2)
def test_other_notifications_change_nothing(repo: Path, kind: str) -> None:
    set_up(repo)
    call("claude", payload("claude-UserPromptSubmit", repo, session_id="s-1"), repo)
    before = state(repo)
    notify(repo, kind)
    assert state(repo) == before


def fail(repo: Path, **fields: str) -> None:
    sent = {"hook_event_name": "StopFailure", "session_id": "s-1", "cwd": str(repo), **fields}
    assert call("claude", sent, repo) == SILENT


LIMIT = "You've hit your session limit · resets 3:45pm (Europe/Madrid)"


@pytest.mark.parametrize(
    ("error", "message", "shown"),
    [
        ("rate_limit", LIMIT, f"its limit («{LIMIT}»)"),
        ("authentication_failed", "Please run /login\nand more", "its login («Please run /login»)"),
        ("overloaded", "", "its service, which is overloaded"),
        ("unknown", "What I did so far", "an error of its model"),
        ("", "", "an error of its model"),
    ],
)
@pytest.mark.sample(2)
def test_a_turn_that_an_error_ended_is_over_and_shows_the_error(
    repo: Path, error: str, message: str, shown: str
) -> None:
    set_up(repo)
    call("claude", payload("claude-UserPromptSubmit", repo, session_id="s-1"), repo)
    fail(repo, error=error, last_assistant_message=message)
    assert state(repo) == ("waiting", f"Waits for its person: {shown}")
    call("claude", payload("claude-UserPromptSubmit", repo, session_id="s-1"), repo)
    assert presence(repo)["status"] == "implementing"
    assert log(repo) == []


def test_an_error_of_a_sub_agent_does_not_end_the_turn(repo: Path) -> None:
    set_up(repo)
    call("claude", payload("claude-UserPromptSubmit", repo, session_id="s-1"), repo)
    before = state(repo)
    fail(repo, error="rate_limit", agent_id="a-1")
    assert state(repo) == before


def test_a_turn_of_cursor_that_ended_in_an_error_shows_that(repo: Path) -> None:
    set_up(repo)
    sent = {"hook_event_name": "stop", "conversation_id": "c-1", "workspace_roots": [str(repo)],
            "status": "error", "loop_count": 0}  # fmt: skip
    assert call("cursor", sent, repo).code == 0
    assert state(repo) == ("waiting", "Waits for its person: an error of its model")
