"""Update the branch of a worktree to the default branch: merge or rebase outside it, then apply.

A conflict is found before anything changes, so nothing must be aborted and nothing is lost.
"""

from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from ghp_agents.core import mentions
from ghp_agents.core.errors import NotSetUpError, RefusedError, UnknownError
from ghp_agents.core.finding import Finding, error
from ghp_agents.core.ids import listed
from ghp_agents.git import default_branch, merge, worktree, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.branch_range import between
from ghp_agents.git.merge import MergeResult
from ghp_agents.hotpath.quoting import file
from ghp_agents.pulls.pull import no_base
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.remote import PushOutcome
from ghp_agents.workspace import Workspace

LISTED = 10  # branches that are named


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
    base, branch = branches.main_branch(ws), ws.branch
    if base is None:
        raise no_main_branch(ws)
    if branch is None:
        raise RefusedError(
            "No branch is checked out here (detached HEAD).",
            hint="Switch to a branch: `git switch BRANCH`, or `git switch -c NEW` for a new one.",
        )
    if branch == base:
        raise RefusedError(f"This worktree is on the main branch, {base}.", hint=on_main)
    return base, branch


def unclear_main(ws: Workspace) -> RefusedError | None:
    """The error if there are branches and none is known to be the main one; the remote is asked.
    Raises UnknownError."""
    name, on_remote = branches.main_and_tips(ws, fetches=False)
    if name in on_remote or not worktree_admin.branches(ws.folder):
        return None
    if name and worktree_admin.tip(ws.folder, f"{branches.HEADS}{name}"):
        return None  # it was not pushed yet
    return no_base(name) if name else no_main_branch(ws)


def no_main_branch(ws: Workspace) -> RefusedError:
    """The error where no branch is known to be the main one."""
    remote = branches.where(ws)
    pushed, local = default_branch.candidates(ws.folder, remote.name if remote else "")
    names = [*dict.fromkeys([*pushed, *local])]
    name = ws.branch if ws.branch in names else next(iter(names), "main")
    how = f'commit `{{"agents": {{"trunk": "{name}"}}}}` there, as .ghp/config.json'
    if remote and name in pushed:
        how += f", or run `git remote set-head {quote(remote.name)} {quote(name)}`"
    return RefusedError(
        f"Cannot tell which branch is the main branch: "
        f"{listed([*map(file, names)], LISTED) or 'there is none'}.",
        hint=f"Choose one, such as {file(name)}: {how}.",
    )


def check(ws: Workspace) -> Iterator[Finding]:
    """The doctor's check: whether this clone can tell the main branch."""
    if trunk(ws) is None and worktree_admin.branches(ws.folder):
        problem = no_main_branch(ws)
        yield error("main-branch", str(problem), problem.hint)


def refuse_operation(ws: Workspace) -> None:
    """Raise RefusedError while a merge, a rebase or the like is in progress here."""
    operation = worktree.operation(ws.git_dir)
    if operation:
        raise RefusedError(
            f"{operation.capitalize()} is in progress here.",
            hint="Finish or abort it; `git status` shows how.",
        )


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
    return bool(sent and sent != tips.head and worktree.contains(ws.folder, sent, tips.head))


def read_tips(ws: Workspace, base: str, branch: str, head: str) -> Tips:
    """Fetch, and read the tips; change nothing. Raises UnknownError, RefusedError if the remote
    branch has commits that are missing here."""
    now, fetched = branches.main_and_tips(ws, branch)
    base = now or base
    if base not in fetched:
        raise no_base(base)
    branches.connect(ws, base, {**fetched, branch: head})
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
    if worktree.contains(ws.folder, tips.head, tips.sent):
        return True
    args = ["reflog", "show", "--format=%H", f"refs/heads/{tips.branch}", "--"]
    return tips.sent in git.run(args, cwd=ws.folder).text.split()


def bring_up(ws: Workspace, tips: Tips, by: str) -> str:
    """Update the branch to the default branch by the configured method; return its new head.
    Raises RefusedError for a conflict; then nothing has changed."""
    if between(ws.folder, tips.trunk, tips.head).forks == (tips.trunk,):
        return tips.head
    method = ws.settings.update_method
    result = combined(ws, tips, by, method)
    if result.conflicts:
        raise _conflict(ws, tips, result.conflicts)
    if method == "rebase":
        git.check(["reset", "-q", "--keep", result.oid], cwd=ws.folder)
    else:
        why = worktree_admin.forward(ws.folder, tips.branch, tips.head, result.oid)
        if why:
            raise RefusedError(f"{why}.", hint="Run `ghp agent-finish` again.")
    return result.oid


def combined(ws: Workspace, tips: Tips, by: str, method: str) -> MergeResult:
    """The commit that has the default branch in the branch, by a method; on no branch yet."""
    folder, scratch = ws.folder, ws.ghp_dir
    if method == "rebase":
        identity = branches.identity(ws, by)
        return merge.merge_commits(folder, scratch, tips.trunk, tips.head, method, "", identity)
    merged = merge.merge(folder, scratch, tips.head, tips.trunk)
    if merged.stages:
        return MergeResult("", merged.stages)
    words = f"Merge {tips.base} into {tips.branch}\n"
    message = mentions.in_commit(words, ws.settings.mentionable)  # a branch may be called @codex
    identity = branches.identity(ws, by)
    parents = tips.head, tips.trunk
    return MergeResult(merge.commit(folder, merged.oid, parents, message, identity))


def _conflict(ws: Workspace, tips: Tips, paths: tuple[str, ...]) -> RefusedError:
    return RefusedError(
        f"{tips.branch} conflicts with {tips.base} in {listed(paths, 10)}. Nothing was changed.",
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
    if "cannot create" in pushed.words:
        other = f"agents/{tips.branch.removeprefix('agent/')}"
        raise RefusedError(
            f"The remote has a branch that is in the way of {tips.branch}: {pushed.words}.",
            hint=f"Rename yours, for example `git branch -m {quote(other)}`, and finish again. "
            "`branchPattern` chooses other names.",
        )
    moved = pushed.answer is PushOutcome.MOVED
    raise RefusedError(
        f"{tips.branch} moved on the remote meanwhile."
        if moved
        else f"The remote refused {tips.branch}: {pushed.words}.",
        hint="Run the same command again." if moved else "Fix what it names, then try again.",
    )
