"""Update the branch of a worktree to the default branch: merge or rebase outside it, then apply.

A conflict is found before anything changes, so nothing must be aborted and nothing is lost.
"""

from pathlib import Path
from shlex import quote
from typing import NamedTuple

from ghp_agents.core.errors import NotSetUpError, RefusedError, UnknownError
from ghp_agents.git import merge, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.remote import PushOutcome
from ghp_agents.workspace import Workspace


class Tips(NamedTuple):
    """The tips of the default branch and the branch, here and on the remote."""

    base: str  # the default branch's name
    trunk: str
    branch: str
    head: str  # in the worktree
    sent: str | None  # on the remote; None: no such branch, or no remote


def branch_of_work(ws: Workspace, *, on_main: str) -> tuple[str, str]:
    """The main branch's name, and that of this worktree's branch; `on_main` is the hint if both are
    the same. Raises NotSetUpError, RefusedError."""
    if ws.place.toplevel is None:
        raise NotSetUpError(
            "There is no worktree here.", hint="Change to the worktree of the issue."
        )
    base, branch = trunk(ws), ws.branch
    if base is None:
        raise RefusedError(
            "Cannot tell which branch is the main branch.",
            hint="Set `agents.trunk` in .ghp/config.json.",
        )
    if branch is None:
        raise RefusedError(
            "No branch is checked out here (detached HEAD).",
            hint="Switch to a branch: `git switch BRANCH`, or `git switch -c NEW` for a new one.",
        )
    if branch == base:
        raise RefusedError(f"This worktree is on the main branch, {base}.", hint=on_main)
    return base, branch


def compare_with_remote(ws: Workspace, base: str, branch: str, head: str) -> Tips:
    """Read the remote's tips; fast-forward the branch if the remote is ahead. Raises UnknownError,
    RefusedError if the remote branch has commits that are missing here."""
    tips = read_tips(ws, base, branch, head)
    if is_behind(ws, tips):
        assert tips.sent is not None
        why = worktree_admin.forward(ws.folder, branch, head, tips.sent)  # e.g. a merge updated it
        if why:
            raise _lacking(ws, tips)
        tips = tips._replace(head=tips.sent)
    return tips


def is_behind(ws: Workspace, tips: Tips) -> bool:
    """Whether the remote's branch is ahead of this one."""
    sent = tips.sent
    return bool(sent and sent != tips.head and merge.is_ancestor(ws.folder, tips.head, sent))


def read_tips(ws: Workspace, base: str, branch: str, head: str) -> Tips:
    """Fetch, and read the tips; change nothing. Raises UnknownError, RefusedError if the remote
    branch has commits that are missing here."""
    fetched = branches.tips(ws, base, branch)
    if base not in fetched:
        raise RefusedError(
            f"There is no branch {base}.", hint="Set `agents.trunk` to the main branch."
        )
    remote = branches.where(ws)
    tips = Tips(base, fetched[base], branch, head, fetched.get(branch) if remote else None)
    if tips.sent and not is_behind(ws, tips) and not _contains_remote(ws, tips):
        raise _lacking(ws, tips)
    return tips


def _lacking(ws: Workspace, tips: Tips) -> RefusedError:
    remote = branches.where(ws)
    name = remote.name if remote else "the remote"
    return RefusedError(
        f"{tips.branch} on {name} has commits that this clone lacks.",
        hint=f"Run `git pull --rebase {name} {tips.branch}`, then the same command again.",
    )


def _contains_remote(ws: Workspace, tips: Tips) -> bool:
    """Return whether the branch here contains the remote's tip, now or in its reflog."""
    assert tips.sent is not None
    if merge.is_ancestor(ws.folder, tips.sent, tips.head):
        return True
    args = ["reflog", "show", "--format=%H", f"refs/heads/{tips.branch}", "--"]
    return tips.sent in git.run(args, cwd=ws.folder).text.split()


def bring_up(ws: Workspace, tips: Tips, by: str) -> str:
    """Update the branch to the default branch by the configured method; return its new head.
    Raises RefusedError for a conflict; then nothing has changed."""
    if merge.is_ancestor(ws.folder, tips.trunk, tips.head):
        return tips.head
    result = combined(ws, tips, by)
    if result.conflicts:
        raise _conflict(ws, tips, result.conflicts)
    if ws.settings.update_method == "rebase":
        git.check(["reset", "-q", "--keep", result.commit], cwd=ws.folder)
    else:
        why = worktree_admin.forward(ws.folder, tips.branch, tips.head, result.commit)
        if why:
            raise RefusedError(f"{why}.", hint="Run `ghp agent-finish` again.")
    return result.commit


def combined(ws: Workspace, tips: Tips, by: str) -> merge.MergeResult:
    """The branch with the default branch in it, by the configured method; on no branch yet."""
    rebases = ws.settings.update_method == "rebase"
    return _rebased(ws, tips, by) if rebases else _merged(ws, tips, by)


def merged(
    ws: Workspace, folder: Path, base: str, trunk: str, branch: str, head: str, by: str
) -> merge.MergeResult:
    """Merge the default branch into a branch; return the commit."""
    tree = merge.merge(folder, ws.ghp_dir, head, trunk)
    if tree.stages:
        return merge.MergeResult("", tree.stages)
    message = f"Merge {base} into {branch}\n"
    identity = branches.identity(ws, by)
    return merge.MergeResult(merge.commit(folder, tree.tree, (head, trunk), message, identity))


def _merged(ws: Workspace, tips: Tips, by: str) -> merge.MergeResult:
    return merged(ws, ws.folder, tips.base, tips.trunk, tips.branch, tips.head, by)


def _rebased(ws: Workspace, tips: Tips, by: str) -> merge.MergeResult:
    identity = branches.identity(ws, by)
    return merge.merge_commits(ws.folder, ws.ghp_dir, tips.trunk, tips.head, "rebase", "", identity)


def _conflict(ws: Workspace, tips: Tips, paths: tuple[str, ...]) -> RefusedError:
    listed = ", ".join(paths[:10]) + (f" and {len(paths) - 10} more" if len(paths) > 10 else "")
    return RefusedError(
        f"{tips.branch} conflicts with {tips.base} in {listed}. Nothing was changed.",
        hint="`ghp agent-update` shows both sides. Then run "
        f"`{by_hand(ws, tips.base)}`, resolve the conflicts and commit; finally run "
        "`ghp agent-finish` again.",
    )


def by_hand(ws: Workspace, base: str) -> str:
    """The git command that updates a branch and stops at conflicts."""
    remote = branches.where(ws)
    trunk = f"{remote.name}/{base}" if remote else base
    return f"git {ws.settings.update_method} {quote(trunk)}"


def send(ws: Workspace, tips: Tips, head: str) -> None:
    """Push the branch if the remote's tip has not moved. Raises RefusedError, UnknownError."""
    if branches.where(ws) is None or tips.sent == head:
        return
    pushed = branches.push(ws, head, tips.branch, expected=tips.sent or "")
    if pushed.answer is PushOutcome.DONE:
        return
    if pushed.answer is PushOutcome.UNKNOWN:
        if branches.tips(ws, tips.branch).get(tips.branch) == head:
            return
        raise UnknownError(
            f"It is unknown whether {tips.branch} was pushed: {pushed.words}",
            hint="Run the same command again when the remote is reachable.",
        )
    moved = pushed.answer is PushOutcome.MOVED
    raise RefusedError(
        f"{tips.branch} moved on the remote meanwhile."
        if moved
        else f"The remote refused {tips.branch}: {pushed.words}.",
        hint="Run the same command again." if moved else "Fix what it names, then try again.",
    )
