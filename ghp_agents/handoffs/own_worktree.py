"""Which worktree is an agent's own, and what of another one is known to be its work."""

from collections.abc import Callable
from pathlib import Path

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.hotpath import heartbeat, implicit_leases
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.ports import Context
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace, agent_named_in


def is_own(ws: Workspace, agent: str, fields: Presence | None = None) -> bool:
    """Whether a worktree is the agent's: it has its name or, without a name, `fields` are of here
    (by default what the agent last reported in this clone)."""
    name, here = agent_named_in(ws.git_dir), ws.presence(agent)
    if name or here is None:
        return name == agent
    places = heartbeat.surroundings(ws.place)
    last = here if fields is None else fields
    return all(last.get(key) == places.get(key) for key in ("branch", "worktree"))


def elsewhere(ws: Workspace, agent: str, issue: int | None) -> Path | None:
    """The agent's worktree in this clone, if this is none of its; of several, the one of an issue.
    None if there is none, or nobody can tell which."""
    places = [(checkout, walk_up(str(checkout.path)))
              for checkout in worktree_admin.listed(ws.folder)]  # fmt: skip
    mine = {
        checkout.path: checkout.branch or worktree_admin.left_branch(Path(place.git_dir))
        for checkout, place in places
        if place and agent_named_in(place.git_dir) == agent
    }
    of_issue = [x for x in mine if issue is not None and issue_of_branch(mine[x]) == issue]
    chosen = of_issue or [*mine]
    return chosen[0] if len(chosen) == 1 else None


def known_work(ctx: Context, agent: str) -> Callable[[str], bool]:
    """Tells of a path in this worktree whether the agent edits it, or has a lease of it."""
    from ghp_agents.core import globs
    from ghp_agents.leases import service as leases

    ws = ctx.ws
    fold = ws.git_value("core.ignorecase") == "true"
    edited = {
        touch.path
        for touch in implicit_leases.list_all(ws.folders)
        if touch.agent == agent and touch.is_in(ws.place.git_dir)
    }
    held = [hold.patterns for hold in leases.listing(ctx).held if hold.holder == agent]

    def is_known(path: str) -> bool:
        spelled = path.lower() if fold else path
        return spelled in edited or any(globs.covers(x, path, fold=fold) for x in held if x)

    return is_known
