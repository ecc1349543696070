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
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.pulls.finish import unfinished
from ghp_agents.pulls.pull import Pull
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.remote import PushOutcome


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
        self._places = {x.branch: x for x in worktree_admin.listed(self._folder) if x.branch}

    def remove_worktree(self, pull: Pull) -> list[str]:
        place = self._places.get(pull.branch)
        if place is None or not place.path.is_dir():
            return []
        why = self._why_kept(pull, place)
        if why:
            return [f"Kept the worktree {place.path}: {why}."]
        worktree_admin.clear(self._folder, place.path)
        return []

    def delete_branches(self, pulls: Sequence[Pull]) -> None:
        over: dict[str, str] = {}
        for pull in pulls:
            tip = worktree_admin.tip(self._folder, f"refs/heads/{pull.branch}")
            if tip and self._is_merged(tip, pull):
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
        """Why a worktree must stay; empty if it may be deleted. What needs git comes last."""
        if place.is_main:
            return "it is the main worktree"
        if not self._is_merged(place.head, pull):
            return "it has commits that are not merged"
        location = walk_up(str(place.path))
        if location is None or worktree.operation(Path(location.git_dir)):
            return "a git operation is in progress there"
        if self._cwd.is_relative_to(place.path.resolve()):
            return "this command runs in it; remove it from elsewhere with `git worktree remove`"
        if place.path.name in self._active:
            agent = self._active[place.path.name]
            return f"{agent} is still in it; remove it later with `git worktree remove`"
        try:
            left = unfinished(self._me.ctx.ws, place.path)
        except GhpError as error:
            return f"git cannot read it ({error})"
        return f"{left[0]} is not committed there" if left else ""

    @cached_property
    def _active(self) -> dict[object, str]:
        """The other active agents whose sessions run here, by the name of their worktree."""
        ctx = self._me.ctx
        return {
            view.presence.get("worktree"): view.name
            for view in presence.list_agents(ctx, ctx.store.snapshot())
            if view.is_here and view.liveness is Liveness.ACTIVE and view.name != self._me.name
        }
