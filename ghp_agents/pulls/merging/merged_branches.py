"""Delete the branches and worktrees of merged pull requests, here and on the remote.

Nothing is deleted that is not on the default branch, and no worktree that is in use.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls.pull import Pull
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.remote import PushOutcome
from ghp_agents.worktrees import removal
from ghp_agents.worktrees.removal import Removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.pulls.merging.left_behind import LeftBehind


def is_at_work(view: AgentView) -> bool:
    """Whether an agent of this clone is active, with a client as far as known."""
    return view.is_here and view.liveness is Liveness.ACTIVE and not view.has_no_client


def remove(me: ClaimContext, pulls: Sequence[Pull], cwd: Path) -> dict[int, list[str]]:
    """Delete the branches and worktrees of merged work; return by pull request what was kept, and
    why."""
    remover = _Remover(me, cwd)
    notes = {pull.number: remover.remove_worktree(pull) for pull in pulls}
    remover.delete_branches(pulls)
    for pull, note in remover.delete_remote_branches(pulls):
        notes[pull.number].append(note)
    return notes


class _Remover:
    """Removes worktrees and branches; reads each fact once."""

    def __init__(self, me: ClaimContext, cwd: Path) -> None:
        self._me, self._cwd = me, cwd.resolve()
        self._folder = me.ctx.ws.main_worktree or me.ctx.ws.folder
        places = worktree_admin.listed(self._folder)
        self._places = {x.branch: x for x in places if x.branch}
        self._has_detached = any(not x.branch and not x.is_main for x in places)

    def remove_worktree(self, pull: Pull) -> list[str]:
        place = self._places.get(pull.branch)
        if place is None and self._has_detached:  # it may have left the branch
            leavers = [x for x in self._left.values() if x.branch == pull.branch]
            return [f"Kept the worktree {x.folder}: {x.words}." for x in leavers]
        if place is None or not place.path.is_dir():
            return []
        why = self._why_kept(pull, place)
        try:
            done = Removed(why) if why else removal.remove(self._me.ctx.ws, place, self._cwd)
        except GhpError as error:
            return [f"{error} {error.hint}"]
        if done.is_gone:
            return [*done.notes]
        left, is_used = self._left.get(place.path), place.path.name in self._active
        reasons = [left.words] if left else []
        reasons += [done.why_kept] if is_used or not left else []
        return [f"Kept the worktree {place.path}: {'; '.join(reasons)}."]

    def delete_branches(self, pulls: Sequence[Pull]) -> None:
        over: dict[str, str] = {}
        for pull in pulls:
            tip = worktree_admin.tip(self._folder, f"refs/heads/{pull.branch}")
            place = self._places.get(pull.branch)
            is_used = place is not None and place.path.is_dir()
            if tip and not is_used and self._is_merged(tip, pull):
                over[pull.branch] = tip
        worktree_admin.delete_branches(self._folder, over)

    def delete_remote_branches(self, pulls: Sequence[Pull]) -> list[tuple[Pull, str]]:
        ws = self._me.ctx.ws
        if branches.where(ws) is None:
            return []
        published = [pull for pull in pulls if branches.known_tip(ws, pull.branch)]
        gone = branches.delete_all(ws, {pull.branch: pull.head for pull in published})
        return [
            (pull, f"Kept {pull.branch} on the remote: {gone[pull.branch].words}.")
            for pull in published
            if gone[pull.branch].answer is PushOutcome.REFUSED
        ]

    def _is_merged(self, commit: str, pull: Pull) -> bool:
        """Whether the merge contains a commit."""
        return commit == pull.head or (
            bool(worktree_admin.tip(self._folder, pull.head))
            and worktree.contains(self._folder, pull.head, commit)
        )

    def _why_kept(self, pull: Pull, place: Checkout) -> str:
        """Why a worktree must stay, apart from what is in it; empty if it may go."""
        if not place.is_main and not self._is_merged(place.head, pull):
            return "it has commits that are not merged"
        agent = self._active.get(place.path.name)
        later = "`ghp agent-sweep --prune` removes it later"
        return f"{agent} is active there; {later}" if agent else ""

    @cached_property
    def _left(self) -> "dict[Path, LeftBehind]":
        """What agents left behind, by worktree."""
        from ghp_agents.pulls.merging import left_behind  # only where a worktree stays

        ctx = self._me.ctx
        return {left.folder: left for left in left_behind.find(ctx, ctx.store.snapshot())}

    @cached_property
    def _active(self) -> dict[object, str]:
        """The other active agents whose sessions run here, by the name of their worktree."""
        ctx = self._me.ctx
        return {
            view.presence.get("worktree"): view.name
            for view in presence.list_agents(ctx, ctx.store.snapshot())
            if is_at_work(view) and view.name != self._me.name
        }
