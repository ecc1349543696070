"""The default branch, which work is merged into."""

from ghp_agents.git import default_branch, worktree
from ghp_agents.git.default_branch import HEADS, REMOTES, USUAL
from ghp_agents.workspace import Workspace


def trunk(ws: Workspace) -> str | None:
    """The default branch's name: as configured, else as `git.default_branch.chosen` says; None if
    nothing tells it."""
    if ws.settings.trunk:
        return ws.settings.trunk
    branches = worktree.branches(ws.folder, *USUAL)
    return default_branch.chosen(ws.folder, branches, _remote(ws, branches))


def trunk_refs(ws: Workspace) -> list[str]:
    """The refs of the default branch, here and on the remote, except the branch that is checked
    out."""
    return [ref for ref in trunk_places(ws) if ref != f"{HEADS}{ws.branch}"]


def trunk_places(ws: Workspace) -> list[str]:
    """The refs of the default branch, here and on the remote."""
    names = (*USUAL, ws.settings.trunk) if ws.settings.trunk else USUAL
    branches = worktree.branches(ws.folder, *names)
    name = ws.settings.trunk or default_branch.chosen(ws.folder, branches, _remote(ws, branches))
    if name is None:
        return []
    if name not in names:  # the remote's own choice
        branches = worktree.branches(ws.folder, name)
    remote = _remote(ws, branches)
    places = (f"{HEADS}{name}", f"{REMOTES}{remote}/{name}")
    return [ref for ref in places if ref in branches]


def remote_name(ws: Workspace) -> str:
    """The remote that branches are pushed to."""
    return _remote(ws, worktree.branches(ws.folder, *USUAL))


def _remote(ws: Workspace, refs: dict[str, str]) -> str:
    """The remote to use: the configured one, origin, or the only one."""
    return ws.settings.remote or default_branch.remote_of(ws.folder, refs)
