"""What a shell command wrote is looked at afterwards: leased where free, told where not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import implicit_leases
from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.hooks import SILENT, call, context, log, payload, set_up, write

Worktree = Callable[[Path, str], Path]
TEXT = "".join(f"{number}\n" for number in range(1, 21))


def ran(folder: Path, command: str = "make", agent: str = "worker-1", **more: Any) -> str:
    """What an agent hears after it ran a command."""
    calls = [{"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": ""}]
    message = payload("claude-PostToolBatch", folder, tool_calls=calls, session_id=agent, **more)
    done = call("claude", message, folder, {"GHP_AGENT": agent})
    assert log(folder if (folder / ".git").is_dir() else folder.parent / "repo") == []
    return "" if done == SILENT else context(done)


def leases(repo: Path) -> list[tuple[str, str]]:
    return [(x.agent, x.path) for x in implicit_leases.list_all([str(repo / ".git/ghp")])]


@pytest.fixture
def here(repo: Path) -> Path:
    """worker-1 works here, alone."""
    commit(repo, {"a.txt": TEXT, "b.txt": TEXT, ".gitignore": "*.log\n"})
    set_up(repo)
    succeed(repo, "agent-heartbeat --as worker-1")
    assert ran(repo, "true") == ""
    return repo


@pytest.fixture
def elsewhere(here: Path, worktree: Worktree) -> Path:
    """The worktree of worker-2, in which it changed a line of a.txt."""
    other = worktree(here, "147")
    set_up(other, "worker-2")
    succeed(other, "agent-heartbeat --as worker-2")
    message = write(other / "a.txt", other, session_id="worker-2")
    assert call("claude", message, other, {"GHP_AGENT": "worker-2"}) == SILENT
    (other / "a.txt").write_text(TEXT.replace("10\n", "ten\n"))
    return other


def test_what_a_command_wrote_is_leased(here: Path) -> None:
    (here / "a.txt").write_text("changed\n")
    (here / "new").mkdir()
    (here / "new/c.txt").touch()
    (here / "x.log").touch()
    (here / "b.txt").unlink()
    assert ran(here) == ""
    assert leases(here) == [("worker-1", "a.txt"), ("worker-1", "b.txt"), ("worker-1", "new/c.txt")]


def test_what_was_changed_before_the_session_is_not_its_own(repo: Path) -> None:
    commit(repo, {"a.txt": TEXT})
    (repo / "a.txt").write_text("a person's\n")
    os.utime(repo / "a.txt", (1, 1))
    set_up(repo)
    succeed(repo, "agent-heartbeat --as worker-1")
    presence = repo / ".git/ghp/agents/worker-1.json"
    presence.write_text(presence.read_text().replace('"startedAt": "20', '"startedAt": "29'))
    assert ran(repo) == ""
    assert leases(repo) == []


def test_a_conflict_is_told_once_with_the_words_of_a_refusal(here: Path, elsewhere: Path) -> None:
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    text = ran(here, "sed -i s/10/X/ a.txt")
    lines = text.splitlines()
    assert lines[0] == "Your command changed files that others hold or have changed:"
    assert lines[1].startswith("This edit of a.txt would conflict at your line 10. worker-2 has ")
    assert "\nten\n" in text
    assert lines[-1].startswith("Next: Undo the change, wait until worker-2 finishes its issue")
    assert ran(here) == ""
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n").replace("1\n", "one\n", 1))
    assert ran(here) == "", "the same conflict"
    (elsewhere / "a.txt").write_text(TEXT.replace("10\n", "TEN\n"))
    (here / "a.txt").write_text(TEXT.replace("10\n", "Y\n"))
    assert "\nTEN\n" in ran(here), "another conflict"


def test_what_git_can_merge_is_not_told(here: Path, elsewhere: Path) -> None:
    (here / "a.txt").write_text(TEXT.replace("20\n", "twenty\n"))
    assert ran(here) == ""
    assert ("worker-1", "a.txt") in leases(here)


def test_what_was_committed_by_the_command_is_looked_at_too(here: Path, elsewhere: Path) -> None:
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    git(here, "commit", "-qam", "Change")
    assert "would conflict at your line 10" in ran(here)
    assert ran(here) == ""


def test_who_cannot_hear_is_told_later(here: Path, elsewhere: Path) -> None:
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    assert ran(here, agent_id="a1", agent_type="general-purpose") in ("",)
    assert "would conflict at your line 10" in ran(here)


def test_an_override_ends_it(here: Path, elsewhere: Path) -> None:
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    succeed(here, "agent-check --override rename a.txt --as worker-1")
    assert ran(here) == ""


def test_in_one_worktree_the_file_of_another_is_told_once(repo: Path) -> None:
    here = repo
    commit(here, {"a.txt": TEXT, "b.txt": TEXT})
    set_up(here, None)
    succeed(here, "agent-heartbeat --as worker-1", "agent-heartbeat --as worker-2")
    assert ran(here) == ""
    message = write(here / "b.txt", here, session_id="worker-2")
    assert call("claude", message, here, {"GHP_AGENT": "worker-2"}) == SILENT
    (here / "b.txt").write_text("by somebody\n")
    text = ran(here, "make format")
    assert text.startswith(
        "While your command ran, files changed that others hold or have changed:\n"
        "worker-2 has been editing b.txt in this worktree since "
    )
    assert ran(here) == ""
    (here / "a.txt").write_text("by somebody\n")
    assert ran(here, "make format") == ""
    assert leases(here) == [("worker-2", "b.txt")], "nobody knows who wrote a.txt"
    (here / "a.txt").write_text("by worker-1\n")
    assert ran(here, "echo 'by worker-1' > a.txt") == ""
    assert leases(here) == [("worker-1", "a.txt"), ("worker-2", "b.txt")]


def test_what_is_leased_by_another_is_told_once(here: Path) -> None:
    succeed(here, "agent-heartbeat --as worker-2")
    assert invoke(["agent-lease", "b.txt", "--as", "worker-2", "--reason", "mine"], here).code == 0
    (here / "b.txt").write_text("x\n")
    lines = ran(here, "echo x > b.txt").splitlines()
    assert lines[0] == "Your command changed files that others hold or have changed:"
    assert lines[1].startswith("b.txt is leased by worker-2 since ")
    assert lines[2].startswith("Next: Work on something else, wait for it")
    assert ran(here) == ""


def test_a_filter_is_not_run(here: Path, tmp_path: Path) -> None:
    git(here, "config", "filter.spy.clean", f"touch {tmp_path}/ran; cat")
    (here / ".gitattributes").write_text("*.txt filter=spy\n")
    (here / "a.txt").write_text("changed\n")
    assert ran(here) == ""
    assert not (tmp_path / "ran").exists()
    assert ("worker-1", "a.txt") in leases(here)


def test_news_and_conflicts_are_told_together(here: Path, elsewhere: Path) -> None:
    succeed(here, "agent-issue new Parse --as @me", "agent-issue assign 1 worker-1 --as @me")
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    text = ran(here)
    assert text.startswith("Your command changed files that others hold")
    assert "ghp-agents has news for this agent:\n" in text
    assert ran(here) == ""


def test_without_a_command_nothing_is_looked_at(here: Path) -> None:
    (here / "a.txt").write_text("changed\n")
    message = payload("claude-PostToolBatch", here, tool_calls=[])
    assert call("claude", message, here, {"GHP_AGENT": "worker-1"}) == SILENT
    assert leases(here) == []


def edited(folder: Path, path: str, agent: str) -> str:
    """What an agent hears after a tool edited a file."""
    given = {"file_path": str(folder / path), "content": ""}
    calls = [{"tool_name": "Write", "tool_input": given, "tool_response": "ok"}]
    message = payload("claude-PostToolBatch", folder, tool_calls=calls, session_id=agent)
    done = call("claude", message, folder, {"GHP_AGENT": agent})
    return "" if done == SILENT else context(done)


def test_edits_that_were_allowed_at_the_same_moment_are_compared_afterwards(
    here: Path, elsewhere: Path
) -> None:
    assert implicit_leases.take_lease(
        [str(here / ".git/ghp")], "worker-1", 1, "a.txt", str(here / ".git"), 1_790_000_000.0
    ) is None  # fmt: skip
    (here / "a.txt").write_text(TEXT.replace("10\n", "X\n"))
    lines = edited(here, "a.txt", "worker-1").splitlines()
    assert lines[0] == "Another agent edited the same lines at the same time:"
    assert lines[1].startswith("This edit of a.txt would conflict at your line 10. worker-2 has ")
    assert edited(here, "a.txt", "worker-1") == ""
    assert edited(here, "b.txt", "worker-1") == ""
