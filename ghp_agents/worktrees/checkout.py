"""The worktree in which somebody works on an issue, or that is an agent's."""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.hotpath.quoting import path_word
from ghp_agents.workspace import Workspace, agent_named_in


def of_issue(
    folder: Path, numbers: Container[int | None], recorded: Container[str | None] = ()
) -> Checkout | None:
    """Return the worktree whose branch names an issue with one of these numbers; None without one.

    If several do, it is the first in `git worktree list` whose branch is `recorded` for it.
    """
    worktrees = all_of_issue(folder, numbers)
    return min(worktrees, key=lambda checkout: checkout.branch not in recorded, default=None)


def all_of_issue(folder: Path, numbers: Container[int | None]) -> list[Checkout]:
    """Return the worktrees whose branches name an issue with one of these numbers."""
    return [checkout for checkout in _of_issue(folder, numbers) if checkout.path.is_dir()]


def missing_of_issue(folder: Path, numbers: Container[int | None]) -> Checkout | None:
    """The same of a worktree whose folder is missing."""
    return next((x for x in _of_issue(folder, numbers) if not x.path.exists()), None)


def _of_issue(folder: Path, numbers: Container[int | None]) -> Iterator[Checkout]:
    for checkout in worktree_admin.listed(folder):
        number = issue_of_branch(checkout.branch or "")
        if number is not None and number in numbers:
            yield checkout


def left_branch(folder: Path, checkout: Checkout) -> str:
    """The branch that a worktree with a detached HEAD was on before; empty without one."""
    git_dir = None if checkout.branch else worktree_admin.git_dir_in(folder, checkout)
    return worktree_admin.left_branch(git_dir) if git_dir and checkout.path.is_dir() else ""


def left_by_issue(folder: Path, number: int) -> Checkout | None:
    """A worktree with a detached HEAD, which has left a branch of this issue."""
    worktrees = worktree_admin.listed(folder)
    return next((x for x in worktrees if issue_of_branch(left_branch(folder, x)) == number), None)


def missing(common_dir: Path, checkout: Checkout) -> tuple[str, str]:
    """What to say of a worktree whose folder is missing, and what to do if that keeps its branch
    from others; empty if it does not. Raises GitError."""
    lock = worktree_admin.lock_reason(worktree_admin.git_dir_of(common_dir, checkout.path))
    what = f"The folder of the worktree {checkout.path} is missing"
    if lock is None:
        return f"{what}.", ""
    word = path_word(str(checkout.path))
    return (
        f"{what}, and it is locked{lock}.",
        "Bring the folder back, for example by connecting its disk. If it is gone for good: "
        f"`git worktree unlock {word}`, then try again.",
    )


def of_agent(folder: Path, name: str, issues: Iterable[int] = ()) -> Checkout | None:
    """Return the worktree that an agent's name was written into; None without one. Of several, it
    is that of the first of these issues that has one, else the first."""
    mine = [checkout for checkout in worktree_admin.listed(folder) if _agent_of(checkout) == name]
    by_issue: dict[int | None, Checkout] = {
        issue_of_branch(checkout.branch or left_branch(folder, checkout)): checkout
        for checkout in reversed(mine)
    }
    chosen = [by_issue[number] for number in issues if number in by_issue]
    return next(iter([*chosen, *mine]), None)


def reported(ws: Workspace, name: str) -> Checkout | None:
    """The worktree that an agent's heartbeats in this clone name, unless it is another agent's."""
    folder = (ws.presence(name) or {}).get("worktree")
    named = [x for x in worktree_admin.listed(ws.folder) if x.path.name == folder]
    return named[0] if len(named) == 1 and _agent_of(named[0]) in ("", name) else None


def _agent_of(checkout: Checkout) -> str:
    place = walk_up(str(checkout.path)) if checkout.path.is_dir() else None
    return agent_named_in(place.git_dir) if place else ""
