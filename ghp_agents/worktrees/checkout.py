"""The worktree in which somebody works on an issue."""

from collections.abc import Container
from pathlib import Path

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.git.worktree_admin import Checkout


def of_issue(folder: Path, numbers: Container[int | None]) -> Checkout | None:
    """Return the worktree whose branch names an issue with one of these numbers; None without one.

    If several do, it is the one that `git worktree list` shows first.
    """
    for checkout in worktree_admin.listed(folder):
        number = issue_of_branch(checkout.branch or "")
        if number is not None and number in numbers and checkout.path.is_dir():
            return checkout
    return None
