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
