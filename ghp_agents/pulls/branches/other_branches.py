"""Branches of the same work whose commits a pull request does not have."""

from collections.abc import Iterator

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AGENT_BRANCHES, Actor, issue_of_branch
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.hotpath.quoting import file, path_word
from ghp_agents.issues.issue import Issue, short
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import checkout

MOST = 10  # branches that are compared


def refuse_elsewhere(ws: Workspace, actor: Actor, issue: Issue, branch: str) -> None:
    """Refuse a branch that is not the issue's, if the agent has the issue's branch in a worktree of
    its own: its pull request would lack these commits. Raises RefusedError."""
    own = None if actor.is_person else checkout.of_agent(ws.folder, actor.name, issue.numbers)
    of_own = issue_of_branch((own and own.branch) or "")
    if own is None or own.path.resolve() == ws.folder.resolve() or of_own not in issue.numbers:
        return
    if issue_of_branch(branch) not in issue.numbers:
        word = path_word(str(own.path))
        raise RefusedError(
            f"{file(branch)} is not the branch of {short(issue)}. That is "
            f"{file(own.branch or '')}, in {own.path}, and its pull request does not get the "
            f"commits of {file(branch)}.",
            hint=f"Run `cd {word} && git merge {path_word(branch)} && ghp agent-finish`. Without "
            f"these commits: `cd {word} && ghp agent-finish`.",
        )


def warnings(
    ws: Workspace, issue: Issue, agent: str, branch: str, head: str, main: str
) -> Iterator[str]:
    """Warn of commits that neither `head`, the tip of `branch`, nor `main` has: on the agent's
    other branches of the issue, and on those that this worktree had checked out. Raises GitError.
    """
    tips = worktree_admin.branches(ws.folder)
    mine = [
        name
        for name in tips
        if name.startswith(f"{AGENT_BRANCHES}{agent}/") and issue_of_branch(name) in issue.numbers
    ]
    here = [] if ws.folder == ws.main_worktree else worktree_admin.earlier_branches(ws.git_dir)
    names = [name for name in dict.fromkeys([*mine, *here]) if name in tips and name != branch]
    for name in names[:MOST]:
        number = worktree.lacking(ws.folder, head, tips[name], main, None)
        if number:
            are = "commit that is" if number == 1 else "commits that are"
            yield (
                f"{file(name)} has {number} {are} not in the pull request of {file(branch)}. To "
                f"add {'it' if number == 1 else 'them'}: `git merge {path_word(name)}`, then "
                "`ghp agent-finish`."
            )
