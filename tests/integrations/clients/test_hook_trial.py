"""A worktree is called guarded only after its hooks were started as the client starts them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import hook_trial
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.git_hooks import trial as git_trial
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.hosts import executable

MakeWorktree = Callable[[Path, str], Path]
CLAUDE = ".claude/settings.local.json"


def ws(repo: Path) -> Workspace:
    return open_workspace(repo, os.environ)


def reasons(repo: Path, top: Path) -> list[str]:
    return [gap.why for gap in hook_trial.unguarded(ws(repo), [top])]


@pytest.mark.slow
def test_each_clients_command_is_started_and_leaves_nothing(repo: Path) -> None:
    assert invoke(f"agent-init --no-agents-md --hooks {','.join(HOMES)}", repo).code == 0
    before = sorted((repo / ".git/ghp").rglob("*"))
    assert len(list(hook_trial._places(ws(repo), repo))) == len(HOMES)
    assert reasons(repo, repo) == []
    assert sorted((repo / ".git/ghp").rglob("*")) == before


def test_what_does_not_reach_us_is_named(repo: Path) -> None:
    assert invoke("agent-init --no-agents-md --hooks claude", repo).code == 0
    text = (repo / CLAUDE).read_text()
    python = next(iter(json.loads(text)["hooks"].values()))[0]["hooks"][0]["command"].split()[0]
    silent = executable(repo.parent / "silent", "cat > /dev/null\n")
    silence, gone = "its command gives no answer", repo / "gone"
    (repo / CLAUDE).write_text(text.replace(python, str(silent)))
    assert reasons(repo, repo) == [silence]
    (repo / CLAUDE).write_text(text.replace(python, str(gone)))
    (why,) = reasons(repo, repo)
    assert why in (silence, "its command cannot be started (No such file or directory)")


def test_a_worktree_that_hooks_do_not_accept_is_not_called_guarded(
    repo: Path, worktree: MakeWorktree
) -> None:
    assert invoke("agent-init --no-agents-md --hooks claude", repo).code == 0
    place = worktree(repo, "one")
    (place / CLAUDE).parent.mkdir()
    (place / CLAUDE).write_text((repo / CLAUDE).read_text())
    assert reasons(repo, place) == []
    admin = repo / f".git/worktrees/{place.name}/gitdir"
    admin.write_text(f"{repo.parent}/elsewhere/.git\n")
    assert reasons(repo, place) == ["hooks find no worktree here that belongs to you"]


@pytest.mark.slow
def test_gits_guard_is_tried_without_the_projects_hooks(repo: Path, worktree: MakeWorktree) -> None:
    own = executable(repo / ".git/hooks/pre-commit", "touch .git/ran\n")
    assert git_trial.failure(ws(repo), repo) == ""  # nobody installed it
    assert invoke("agent-init --no-agents-md --hooks git", repo).code == 0
    assert git_trial.failure(ws(repo), repo) == ""
    place = worktree(repo, "one")
    assert git_trial.failure(ws(repo), place) == ""
    guard = repo / ".git/ghp/hooks/pre-commit"
    lines = guard.read_text().splitlines()
    gone = [f"python={repo}/gone" if line.startswith("python=") else line for line in lines]
    guard.write_text("\n".join(gone) + "\n")
    assert "does not reach it" in git_trial.failure(ws(repo), place)
    own.write_text("#!/bin/sh\ntouch .git/ran\n")
    assert "does not call it" in git_trial.failure(ws(repo), place)
    git(repo, "config", "core.hooksPath", "/dev/null")
    assert "does not call it" in git_trial.failure(ws(repo), place)
    assert not (repo / ".git/ran").exists()


@pytest.mark.slow
def test_what_another_program_switched_off_is_guarded_again(repo: Path, tmp_path: Path) -> None:
    assert invoke("agent-init --no-agents-md --hooks claude,git", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    assert "not guard" not in invoke("agent-start 1 --as worker-1", repo).err
    place = Path(invoke("agent-where 1", repo).out.strip())
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(place, "config", "--worktree", "core.hooksPath", "/dev/null")
    again = invoke("agent-start 1 --as worker-1", repo)  # puts it back
    assert "not guard" not in again.err
    assert git_trial.failure(ws(repo), place) == ""
