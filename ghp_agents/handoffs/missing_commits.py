"""The commits of a handoff that are not on the branch here, and the command that brings them.

Without them, the next agent would finish its work and leave out what the last one committed.
"""

from pathlib import Path
from shlex import quote
from typing import NamedTuple

from ghp_agents.core.ids import count, issue_of_branch
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.handoffs import latest, record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath.quoting import named
from ghp_agents.ports import StateStore
from ghp_agents.state.default_branch import remote_name
from ghp_agents.state.known_branches import HEADS, known_tip, main_commit
from ghp_agents.workspace import Workspace


class MissingCommits(NamedTuple):
    """What the branch here lacks."""

    total: int  # 0: this clone has none of them, so they cannot be counted
    text: str  # such as "2 commits of H-1, by bee, up to 3a3d289"
    command: str  # brings them


def last_handed(store: StateStore, issue: int) -> Handoff | None:
    """Return the last handoff of an issue to another agent, if it names a commit."""
    handoffs, _ = record.read_handoffs(store.snapshot().files(record.folder_of(issue)))
    return next((x for x in reversed(handoffs) if x.to and x.head), None)


def to_begin_with(store: StateStore, issue: int) -> Handoff | None:
    """Return the handoff whose commits a new branch of an issue begins with: the one that holds
    the work, if it stores commits, else the last to another agent."""
    last = latest.of_issue(store.snapshot(), [issue])
    return last if last and last.commits and last.head else last_handed(store, issue)


def storing(store: StateStore, handoff: Handoff) -> list[Handoff]:
    """Return the handoffs that store the commits of `handoff`: itself first, then the newest of
    those with the same last commit. Who hands over what is stored does not store it again."""
    if not handoff.head:
        return []
    handoffs, _ = record.read_handoffs(store.snapshot().files(record.HANDOFFS))
    same = [x for x in reversed(handoffs) if x.head == handoff.head and x.id != handoff.id]
    return [x for x in (handoff, *same) if x.commits]


def of(ws: Workspace, store: StateStore, handoff: Handoff | None) -> MissingCommits | None:
    """Return the commits of `handoff` that the branch here lacks and never had; None if it lacks
    none. What main has does not count."""
    if ws.place.toplevel is None or handoff is None or not handoff.head:
        return None
    folder = Path(ws.place.toplevel)
    head = worktree.head(folder)
    if not head or worktree.contains(folder, head, handoff.head):
        return None
    total, commits = 0, "The commits"
    if worktree.has_commit(folder, handoff.head):
        total = worktree.lacking(folder, head, handoff.head, main_commit(ws), ws.branch)
        if not total:
            return None
        commits = count(total, "commit")
    text = f"{commits} of {handoff.name}, by {named(*handoff.by)}, up to {handoff.head[:12]}"
    return MissingCommits(total, text, way(ws, store, folder, head, handoff))


def way(ws: Workspace, store: StateStore, folder: Path, head: str, handoff: Handoff) -> str:
    """Return the command that gets the commits of `handoff` onto the branch here, or changes to
    the branch that has them."""
    branch, commit = handoff.branch or "", handoff.head
    branch = "" if branch == "HEAD" else branch  # others choose the name; origin/HEAD is no branch
    if not worktree.has_commit(folder, commit):
        if storing(store, handoff):
            return f"ghp agent-resume --handoff {handoff.name} --apply"
        return f"git fetch {quote(remote_name(ws))} {quote(branch or commit)}"
    is_here = branch == ws.branch
    tip = worktree_admin.tip(folder, f"{HEADS}{branch}") if branch and not is_here else ""
    has_them = bool(tip) and worktree.contains(folder, tip, commit)
    is_behind = worktree.contains(folder, commit, head)
    is_for_it = handoff.issue is not None and issue_of_branch(ws.branch or "") == handoff.issue
    if (is_here and branch) or (is_for_it and not (has_them and is_behind)):
        only_forward = "--ff-only " if is_behind else ""
        return f"git merge {only_forward}{commit[:12]}"
    if tip or (branch and known_tip(ws, branch)):
        checkout = worktree_admin.of_branch(folder, branch)
        if checkout is not None and checkout.path.is_dir():
            return f"cd {quote(str(checkout.path))}"
        return f"git switch {quote(branch)}"
    return f"git switch --detach {commit[:12]}"
