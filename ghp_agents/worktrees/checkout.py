"""The worktree in which somebody works on an issue, or that is an agent's."""

from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.workspace import NAME_FILE


def of_issue(folder: Path, numbers: Container[int | None]) -> Checkout | None:
    """Return the worktree whose branch names an issue with one of these numbers; None without one.

    If several do, it is the one that `git worktree list` shows first.
    """
    for checkout in worktree_admin.listed(folder):
        number = issue_of_branch(checkout.branch or "")
        if number is not None and number in numbers and checkout.path.is_dir():
            return checkout
    return None


def of_agent(folder: Path, name: str) -> Checkout | None:
    """Return the first worktree that an agent's name was written into; None without one."""
    for checkout in worktree_admin.listed(folder):
        place = walk_up(str(checkout.path)) if checkout.path.is_dir() else None
        with suppress(OSError, UnicodeDecodeError):
            if place and Path(place.git_dir, NAME_FILE).read_text("utf-8").strip() == name:
                return checkout
    return None
