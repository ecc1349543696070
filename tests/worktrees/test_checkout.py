"""The worktree of an issue is found by its branch, that of an agent by its name in it."""

import shutil
from collections.abc import Callable
from pathlib import Path

from ghp_agents.worktrees import checkout
from tests.support.ghp import invoke


def test_the_first_worktree_whose_branch_names_the_issue_is_found(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    worktree(repo, "worker-1/1-lexer")
    first, second = worktree(repo, "worker-1/2-parser"), worktree(repo, "worker-2/2-again")
    found = checkout.of_issue(repo, (7, 2))
    assert found is not None
    assert (found.path, found.branch) == (first, "agent/worker-1/2-parser")
    shutil.rmtree(first)
    other = checkout.of_issue(second, (2,))
    assert other is not None
    assert other.path == second
    assert checkout.of_issue(repo, (12,)) is None
    assert checkout.of_issue(repo, ()) is None


def test_the_worktree_of_an_agent_is_the_one_that_was_named_for_it(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    worktree(repo, "worker-2/1-lexer")
    mine, gone = worktree(repo, "worker-1/2-parser"), worktree(repo, "worker-3/3-writer")
    for place, name in ((mine, "worker-1"), (gone, "worker-3")):
        assert invoke(f"agent-whoami --set {name}", place).code == 0
    shutil.rmtree(gone)
    found = checkout.of_agent(repo, "worker-1")
    assert found is not None
    assert found.path == mine
    assert checkout.of_agent(repo, "worker-2") is None  # only its branch says so
    assert checkout.of_agent(repo, "worker-3") is None


def test_of_several_worktrees_of_an_agent_the_issues_decide(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    places = [worktree(repo, f"worker-1/{name}") for name in ("1-lexer", "2-again", "2-parser")]
    for place in places:
        assert invoke("agent-whoami --set worker-1", place).code == 0
    for issues, index in (((), 0), ((7,), 0), ((7, 2, 1), 1), ((1, 2), 0)):
        found = checkout.of_agent(repo, "worker-1", issues)
        assert found is not None
        assert found.path == places[index]
