"""Who may move the default branch: git's guard asks before a commit, merge or push moves it.

An agent with an issue, or in a worktree of its own, brings work to main by `agent-finish` and
`agent-merge`. A session that nobody gave an issue works on main as its person does.
"""

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.git import worktree
from ghp_agents.guard.check import whoever_is_here
from ghp_agents.hotpath.quoting import named
from ghp_agents.ports import Context
from ghp_agents.state import known_branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace, agent_named_in


def refuse_move(ctx: Context, commit: str) -> None:
    """Raise RefusedError if the current agent must not move the default branch to `commit`; zeros
    delete it. Commits that are on the remote's default branch may come from there."""
    agent = whoever_is_here(ctx.ws)
    if agent is None or not (ctx.world.held_by(Actor(agent)) or _has_worktree(ctx.ws)):
        return
    base = trunk(ctx.ws) or "main"
    if _is_on_remote(ctx.ws, base, commit):
        return
    raise RefusedError(
        f"{named(agent)} has an issue or a worktree of its own, so it does not move {base} itself.",
        hint="Commit on the branch of your issue (`ghp agent-start N` makes it). Then "
        "`ghp agent-finish` and `ghp agent-merge` bring it to "
        f"{base}. If a merge left its files here: `git read-tree -m -u {commit[:12]} HEAD`.",
    )


def _has_worktree(ws: Workspace) -> bool:
    """Whether this is a linked worktree that an agent's name was written into."""
    return ws.git_dir != ws.common_dir and bool(agent_named_in(ws.git_dir))


def _is_on_remote(ws: Workspace, base: str, commit: str) -> bool:
    tip = known_branches.known_tip(ws, base) if known_branches.where(ws) else None
    return bool(tip) and bool(commit.strip("0")) and worktree.contains(ws.folder, tip or "", commit)
