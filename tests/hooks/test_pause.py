"""The agent comes to rest or is compacted: its work is written down, and news keeps it going."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.ghp import invoke
from tests.support.hooks import (
    SESSION,
    SILENT,
    Hooked,
    call,
    context,
    log,
    payload,
    presence,
    set_up,
)


def stops(repo: Path, name: str = "claude-Stop", **changes: Any) -> Hooked:
    return call(name.split("-")[0], payload(name, repo, **changes), repo)


def checkpoints(repo: Path) -> list[str]:
    lines = invoke("agent-log", repo).out.splitlines()
    return [line.split(": ", 1)[1] for line in lines if " checkpoint " in line]


def working(repo: Path) -> Path:
    """worker-1 is at work, with a change that is not committed."""
    set_up(repo)
    call("claude", payload("claude-SessionStart-startup", repo), repo)
    call("claude", payload("claude-UserPromptSubmit", repo), repo)
    (repo / "a").write_text("work\n")
    return repo


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude-Stop", "claude-PreCompact", "codex-Stop"])
def test_the_work_in_hand_is_written_down_once(repo: Path, name: str) -> None:
    working(repo)
    assert stops(repo, name) == SILENT
    assert checkpoints(repo) == ["«1 uncommitted file»"]
    assert stops(repo, name) == SILENT
    assert checkpoints(repo) == ["«1 uncommitted file»"]
    (repo / "b").write_text("more\n")
    assert stops(repo, name) == SILENT
    assert checkpoints(repo) == ["«1 uncommitted file»", "«2 uncommitted files»"]
    assert log(repo) == []


@pytest.mark.slow
def test_where_there_is_no_work_nothing_is_written_down(repo: Path) -> None:
    working(repo)
    (repo / "a").unlink()
    assert stops(repo) == SILENT
    assert stops(repo, "claude-PreCompact") == SILENT
    assert checkpoints(repo) == []
    assert presence(repo)["status"] == "waiting"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [("implementing", "waiting"), ("testing", "waiting"), ("blocked", "blocked"), ("done", "done")],
)
def test_an_agent_whose_turn_is_over_waits(repo: Path, before: str, after: str) -> None:
    working(repo)
    invoke(f"agent-status --set {before} --as worker-1", repo)
    assert stops(repo) == SILENT
    assert presence(repo)["status"] == after


@pytest.mark.slow
def test_a_compaction_is_no_pause(repo: Path) -> None:
    working(repo)
    assert stops(repo, "claude-PreCompact") == SILENT
    assert presence(repo)["status"] == "implementing"


def answer(repo: Path) -> None:
    name = invoke("agent-escalate 'Which database?' --as worker-1", repo).out.split()[0]
    assert invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo).code == 0


@pytest.mark.slow
def test_an_answer_that_came_meanwhile_keeps_the_agent_going_once(repo: Path) -> None:
    working(repo)
    answer(repo)
    text = context(stops(repo))
    assert text.startswith("Before this turn ends, ghp-agents has news for this agent:\n")
    assert "\nSQLite\n" in text
    assert presence(repo)["status"] == "implementing"
    assert stops(repo, stop_hook_active=True) == SILENT
    assert presence(repo)["status"] == "waiting"
    assert len(checkpoints(repo)) == 1


@pytest.mark.slow
def test_an_answer_during_a_turn_that_was_prolonged_waits_for_the_next(repo: Path) -> None:
    working(repo)
    answer(repo)
    assert stops(repo, stop_hook_active=True) == SILENT
    assert "SQLite" in context(call("claude", payload("claude-UserPromptSubmit", repo), repo))


@pytest.mark.slow
def test_codex_goes_on_with_a_reason(repo: Path) -> None:
    working(repo)
    answer(repo)
    done = stops(repo, "codex-Stop")
    assert (done.code, done.err) == (0, b"")
    assert set(done.said) == {"decision", "reason"}
    assert done.said["decision"] == "block"
    assert "\nSQLite\n" in done.said["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "event"),
    [("gemini", "AfterAgent"), ("opencode", "session.idle"), ("qwen", "Stop"), ("pi", "agent_end")],
)
def test_a_client_that_hears_nothing_then_is_told_later(
    repo: Path, client: str, event: str
) -> None:
    working(repo)
    answer(repo)
    message = {"hook_event_name": event, "session_id": SESSION, "cwd": str(repo)}
    assert call(client, message, repo) == SILENT
    assert len(checkpoints(repo)) == 1
    assert "SQLite" in context(call("claude", payload("claude-UserPromptSubmit", repo), repo))


@pytest.mark.slow
def test_the_next_session_goes_on_from_there(repo: Path) -> None:
    working(repo)
    stops(repo)
    call("claude", payload("claude-SessionEnd", repo), repo)
    text = context(call("claude", payload("claude-SessionStart-startup", repo), repo))
    assert "worker-1" in text
    assert "stored 1 file" in text
    assert "This worktree has it." in text
