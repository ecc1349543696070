"""The worktree of an issue is found by its branch."""

import shutil
from collections.abc import Callable
from pathlib import Path

from ghp_agents.worktrees import checkout


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
