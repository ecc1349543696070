"""A worktree that the tool makes is guarded like the main one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import new_worktree
from ghp_agents.workspace import open_workspace
from tests.support.ghp import invoke
from tests.support.git import git

MakeWorktree = Callable[[Path, str], Path]
CLAUDE = ".claude/settings.local.json"


def guard(repo: Path, top: Path) -> list[str]:
    clients = []
    for step in new_worktree.steps(open_workspace(repo, {}), top):
        step.act()
        clients.append(step.what)
    return clients


def test_it_gets_the_hooks_of_the_main_one(repo: Path, worktree: MakeWorktree) -> None:
    assert invoke("agent-init --hooks claude", repo).code == 0
    place = worktree(repo, "one")
    assert guard(repo, place) == [f"hooks for Claude Code into {place / CLAUDE}"]
    assert json.loads((place / CLAUDE).read_text()) == json.loads((repo / CLAUDE).read_text())
    assert git(place, "status", "--porcelain") == ""
    assert guard(repo, place) == []


def test_where_the_main_one_has_none_it_gets_none(repo: Path, worktree: MakeWorktree) -> None:
    assert invoke("agent-init", repo).code == 0
    assert guard(repo, worktree(repo, "one")) == []


@pytest.mark.slow
def test_a_start_says_what_it_guards(repo: Path) -> None:
    assert invoke("agent-init --hooks claude", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    done = invoke("agent-start 1 --as worker-1", repo)
    place = Path(invoke("agent-where 1", repo).out.strip())
    assert f"✓ Put hooks for Claude Code into {place / CLAUDE}.\n" in done.err
    assert "no hooks" not in invoke("agent-doctor", place).out
    again = invoke("agent-start 1 --as worker-1", repo)
    assert "hooks for Claude Code" not in again.err


@pytest.mark.slow
def test_the_line_to_type_starts_a_client_whose_hooks_are_installed(repo: Path) -> None:
    assert invoke("agent-init --hooks cursor", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    assert new_worktree.guarded(open_workspace(repo, {"HOME": str(repo)})) == ["cursor"]
    done = invoke("agent-start 1 --as worker-1", repo)
    assert done.err.endswith("/1-parse && cursor-agent\n")


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_left_and_said(repo: Path) -> None:
    assert invoke("agent-init --hooks claude", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    assert invoke("agent-start 1 --as worker-1", repo).code == 0
    place = Path(invoke("agent-where 1", repo).out.strip())
    (place / CLAUDE).write_text("{")
    done = invoke("agent-start 1 --as worker-1", repo)
    assert (done.code, (place / CLAUDE).read_text()) == (0, "{")
    assert "Warning: Edits in the new worktree are not guarded: " in done.err
