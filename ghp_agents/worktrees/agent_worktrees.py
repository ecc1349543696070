"""The worktrees that `agent-start` created, when everything of ours is removed: those without work
of their own are deleted; the others stay, with the reason."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AGENT_BRANCHES
from ghp_agents.git import merge, worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.hotpath.quoting import named, path_word
from ghp_agents.state.admin_port import Step
from ghp_agents.state.default_branch import trunk_places
from ghp_agents.workspace import Workspace, agent_named_in
from ghp_agents.worktrees import removal
from ghp_agents.worktrees.folder import worktrees_folder

_WHAT = ("worktree without unmerged work", "worktree and branch without unmerged work")


class AgentWorktree(NamedTuple):
    """A worktree of an agent, and why it stays; empty if it goes."""

    checkout: Checkout
    agent: str  # empty if its name is unknown
    kept: str = ""

    @property
    def line(self) -> str:
        """The worktree and its agent, for people."""
        of = f", of {named(self.agent)}" if self.agent else ""
        return f"{path_word(str(self.checkout.path))}{of}"


def find(ws: Workspace, cwd: Path) -> list[AgentWorktree]:
    """The worktrees of agents in the folder for worktrees; `cwd` is where the command runs."""
    try:
        folder = worktrees_folder(ws)
    except GhpError:  # such a place is not used
        return []
    below = [x for x in worktree_admin.listed(ws.folder) if x.path.parent == folder]
    trunks = trunk_places(ws) if below else []
    worktrees: list[AgentWorktree] = []
    for checkout in below:
        agent = _agent(checkout)
        if checkout.path.is_dir() and (agent or _has_branch(checkout)):
            kept = _why_kept(ws, checkout, agent, trunks, cwd)
            worktrees.append(AgentWorktree(checkout, agent, kept))
    return worktrees


def to_remove(ws: Workspace, trees: Sequence[AgentWorktree], cwd: Path) -> list[Step]:
    """Steps that remove what goes: worktrees, each with its branch if that is an agent's."""
    return [
        Step("remove", "Removed", f"{tree.line}: {_WHAT[_has_branch(tree.checkout)]}",
             partial(_remove, ws, tree.checkout, cwd))
        for tree in trees
        if not tree.kept
    ]  # fmt: skip


def _has_branch(checkout: Checkout) -> bool:
    return (checkout.branch or "").startswith(AGENT_BRANCHES)


def _remove(ws: Workspace, checkout: Checkout, cwd: Path) -> list[str]:
    """Returns notes. Raises GhpError."""
    done = removal.remove(ws, checkout, cwd)
    if done.why_kept:
        raise GhpError(
            f"The worktree {checkout.path} stays: {done.why_kept}.",
            hint="Change that, then run this again.",
        )
    if _has_branch(checkout):
        worktree_admin.delete_branch(ws.folder, checkout.branch or "", checkout.head)
    with suppress(OSError):  # it has others
        checkout.path.parent.rmdir()
    return [*done.notes]


def _agent(checkout: Checkout) -> str:
    """The agent whose name was written into a worktree; empty without one."""
    place = walk_up(str(checkout.path))
    return agent_named_in(place.git_dir) if place else ""


def _why_kept(
    ws: Workspace, checkout: Checkout, agent: str, trunks: Sequence[str], cwd: Path
) -> str:
    """Why a worktree must stay; empty if it can go."""
    if not any(merge.landed(ws.folder, trunk, checkout.head) for trunk in trunks):
        return "it has commits that are not merged"
    if agent and alive.process_lives(ws.presence(agent) or {}) is True:
        return "a program runs in it"
    return removal.why_kept(ws, checkout, cwd)
