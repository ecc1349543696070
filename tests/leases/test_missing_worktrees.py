"""Agents whose worktree was deleted are named by the doctor, with what they hold and what next."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.doctor import findings
from tests.support.ghp import invoke, succeed
from tests.support.git import git

Worktree = Callable[[Path, str], Path]


@pytest.fixture
def linked(repo: Path, worktree: Worktree) -> Path:
    """A worktree in which an agent works."""
    invoke("agent-init --agent worker-1", repo)
    linked = worktree(repo, "w5")
    invoke("agent-whoami --set worker-5", linked)
    return linked


@pytest.mark.slow
@pytest.mark.parametrize("prune", [False, True])
def test_what_the_agent_of_a_deleted_worktree_holds_is_named(
    repo: Path, linked: Path, prune: bool
) -> None:
    invoke(["agent-issue", "new", "Parser"], linked)
    invoke("agent-claim 1", linked)
    lease = invoke("agent-lease --name staging-db", linked).out[:6]
    assert "worktree" not in findings(repo)
    shutil.rmtree(linked)
    if prune:
        git(repo, "worktree", "prune")
    assert findings(repo)["worktree"] == [
        {
            "level": "warning",
            "text": f"The worktree {linked.name} of worker-5 is gone; it still has #1, {lease}.",
            "remedy": f"If it is finished: ghp agent-release 1 {lease} --as @me. If it continues "
            "in another worktree, run there: ghp agent-whoami --set worker-5",
            "fixable": False,
            "fixed": False,
        }
    ]
    assert invoke(f"agent-release 1 {lease} --as @me", repo).code == 0
    (finding,) = findings(repo)["worktree"]
    assert finding["level"] == "info"
    assert "holds nothing" in str(finding["text"])


@pytest.mark.slow
def test_an_agent_that_goes_on_elsewhere_stopped_or_was_moved_is_not_named(
    repo: Path, linked: Path
) -> None:
    moved = linked.with_name("moved")
    git(repo, "worktree", "move", str(linked), str(moved))
    assert "worktree" not in findings(repo), "its name is in the worktree that was moved"
    shutil.rmtree(moved)
    assert "worktree" in findings(repo)
    invoke("agent-status --set stopped --as worker-5", repo)
    assert "worktree" not in findings(repo), "it beat here, and said that it stopped"


def test_where_all_worktrees_are_there_nothing_is_said(repo: Path, linked: Path) -> None:
    assert "worktree" not in findings(linked)
    assert "worktree" not in findings(repo)


@pytest.mark.slow
def test_an_agent_that_went_to_another_clone_is_not_named(
    clones: Callable[[int], list[Path]], worktree: Worktree
) -> None:
    here, elsewhere = clones(2)
    linked = worktree(here, "w5")
    invoke("agent-whoami --set worker-5", linked)
    invoke("agent-sync", here)
    shutil.rmtree(linked)
    assert "worktree" in findings(here)
    succeed(here, "agent-status worker-5 --set stopped", "agent-sync")
    succeed(elsewhere, "agent-sync", "agent-whoami --set worker-5", "agent-heartbeat", "agent-sync")
    succeed(here, "agent-sync")
    assert "worktree" not in findings(here)
