"""After a merge: close the issue, end its claim and leases, delete branch and worktree.

Each step is skipped if it is already done. Nothing is deleted that is not on the default branch,
and no worktree that is in use.
"""

from pathlib import Path

from ghp_agents.claims.effects import ClaimContext, show_release
from ghp_agents.core.errors import GhpError
from ghp_agents.git import merge, worktree, worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.leases import service as leases
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.names import PREFIX, claim_name, claimed_issue
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.pulls.finish import unfinished
from ghp_agents.pulls.pull import Pull
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.cause import MERGED, Cause
from ghp_agents.state.legacy_causes import MERGED_BY
from ghp_agents.state.remote import PushOutcome

ATTEMPTS = 20


def clean_up(me: ClaimContext, pull: Pull, issue: Issue | None, cwd: Path) -> tuple[str, ...]:
    """Clean up after a merge; return notes on what was kept, and why."""
    notes: list[str] = []
    if issue is not None:
        _close(me, pull, issue)
        holder = _end_claim(me, pull, issue)
        if holder is not None:
            _end_leases(me, holder, pull)
    notes += _forward_trunk(me, pull)
    notes += remove_merged(me, pull, cwd)
    return tuple(notes)


def _close(me: ClaimContext, pull: Pull, issue: Issue) -> None:
    commit = f" as {pull.merged_as[:12]}" if pull.merged_as else ""
    mark = f"<!-- ghp:merged {pull.number} -->"
    text = f"Merged{commit}: pull request #{pull.number} of {pull.branch}.\n\n{mark}"
    me.ctx.tracker.comment(issue.number, text, me.actor, marker=mark)
    if issue.state != "closed":
        me.ctx.tracker.change(issue.number, IssueChange(state="closed"), me.actor)


def _end_claim(me: ClaimContext, pull: Pull, issue: Issue) -> Lock | None:
    """Release the claim, whoever holds it: the work is merged. Return the lock as it was."""
    name = claim_name(issue.number)
    held = me.ctx.locks.read(name)
    for _ in range(ATTEMPTS):
        if held is None or held.holder is None:
            return None
        reason = _reason(pull)
        try:
            cause = Cause(MERGED, me.name, f"#{pull.number}")
            after = me.ctx.locks.release(name, expected=held, reason=reason, cause=cause)
        except LockMovedError as moved:
            held = moved.current
            continue
        show_release(me, issue, after, held, reason, keep_assignee=True)
        return held
    return None


def _reason(pull: Pull) -> str:
    """Tell the former holder why the claim ended: what was merged, and where it is."""
    commit = f" as {pull.merged_as[:12]}" if pull.merged_as else ""
    return f"{MERGED_BY}{pull.number} into {pull.base}{commit}"


def _end_leases(me: ClaimContext, held: Lock, pull: Pull) -> None:
    """End the leases of a holder without another issue: they were for this one."""
    others = [
        lock
        for lock in me.ctx.locks.known(PREFIX)
        if lock.holder == held.holder and claimed_issue(lock.name) is not None
    ]
    if held.is_person or others:
        return
    for hold in leases.listing(me.ctx).held:
        if hold.holder == held.holder and not hold.is_person:
            reason = f"{MERGED_BY}{pull.number}"
            leases.give_back(me.ctx, me.actor, hold, reason)


def _forward_trunk(me: ClaimContext, pull: Pull) -> list[str]:
    """Fast-forward this clone's default branch to the remote's, if nothing is in the way."""
    if branches.where(me.ctx.ws) is None:
        return []
    folder = me.ctx.ws.folder
    local_tip = worktree_admin.tip(folder, f"refs/heads/{pull.base}")
    remote_tip = branches.known_tip(me.ctx.ws, pull.base)
    if (
        not local_tip
        or not remote_tip
        or local_tip == remote_tip
        or not merge.is_ancestor(folder, local_tip, remote_tip)
    ):
        return []
    place = worktree_admin.of_branch(folder, pull.base)
    changed = place and place.path.is_dir() and worktree.differences(place.path)
    if place and any(difference.code != "??" for difference in changed or ()):
        return [
            f"Left {place.path} unchanged: {pull.base} has local changes there. Run `git pull` "
            "in it."
        ]
    why = worktree_admin.forward(folder, pull.base, local_tip, remote_tip)
    return [f"{why}."] if why else []


def remove_merged(me: ClaimContext, pull: Pull, cwd: Path) -> list[str]:
    """Delete the worktree and branch of a merged pull request, here and on the remote."""
    folder = me.ctx.ws.main_worktree or me.ctx.ws.folder
    notes: list[str] = []
    place = worktree_admin.of_branch(folder, pull.branch)
    if place is not None and place.path.is_dir():
        why = _why_kept(me, pull, place, cwd)
        if why:
            notes.append(f"Kept the worktree {place.path}: {why}.")
        else:
            worktree_admin.clear(folder, place.path)
    local_tip = worktree_admin.tip(folder, f"refs/heads/{pull.branch}")
    if local_tip and _is_merged(folder, local_tip, pull):
        worktree_admin.delete_branch(folder, pull.branch, local_tip)
    if branches.known_tip(me.ctx.ws, pull.branch) and branches.where(me.ctx.ws):
        gone = branches.delete(me.ctx.ws, pull.branch, expected=pull.head)
        if gone.answer is PushOutcome.REFUSED:
            notes.append(f"Kept {pull.branch} on the remote: {gone.words}.")
    return notes


def _is_merged(folder: Path, commit: str, pull: Pull) -> bool:
    """Return whether the merge contains a commit."""
    return commit == pull.head or (
        bool(worktree_admin.tip(folder, pull.head)) and merge.is_ancestor(folder, commit, pull.head)
    )


def _why_kept(me: ClaimContext, pull: Pull, place: Checkout, cwd: Path) -> str:
    """Return why a worktree must stay; empty if it may be deleted."""
    if place.is_main:
        return "it is the main worktree"
    if not _is_merged(place.path, place.head, pull):
        return "it has commits that are not merged"
    found = walk_up(str(place.path))
    if found is None or worktree.operation(Path(found.git_dir)):
        return "a git operation is in progress there"
    try:
        left = unfinished(me.ctx.ws, place.path)
    except GhpError as error:
        return f"git cannot look at it ({error})"
    if left:
        return f"{left[0]} is not committed there"
    if cwd.resolve().is_relative_to(place.path.resolve()):
        return "this command runs in it; remove it from elsewhere with `git worktree remove`"
    agent = _active_agent_in(me, place)
    return f"{agent} is still in it" if agent else ""


def _active_agent_in(me: ClaimContext, place: Checkout) -> str | None:
    """Return the active agent whose session runs in this worktree."""
    for view in presence.list_agents(me.ctx, me.ctx.store.snapshot()):
        here = view.is_here and view.presence.get("worktree") == place.path.name
        if here and view.liveness is Liveness.ACTIVE and view.name != me.name:
            return view.name
    return None
