"""The trunk: the branch that work goes to, found the way a person would guess it."""

from ghp_agents import worktree
from ghp_agents.workspace import Workspace

USUAL = ("main", "master")
_REMOTES, _HEADS = "refs/remotes/", "refs/heads/"


def trunk(ws: Workspace) -> str | None:
    """The trunk's name: as configured, as the remote says, else main or master; None if there is
    nothing of the kind."""
    if ws.settings.trunk:
        return ws.settings.trunk
    known = worktree.branches(ws.folder, *USUAL)
    remote = _remote(ws, known)
    chosen = known.get(f"{_REMOTES}{remote}/HEAD", "")
    if chosen:
        return chosen.removeprefix(f"{_REMOTES}{remote}/")
    here = {ref.removeprefix(_HEADS).removeprefix(f"{_REMOTES}{remote}/") for ref in known}
    return next((name for name in USUAL if name in here), None)


def trunk_refs(ws: Workspace) -> list[str]:
    """Where the trunk is, here and on the remote; not what is checked out itself."""
    return [ref for ref in trunk_places(ws) if ref != f"{_HEADS}{ws.branch}"]


def trunk_places(ws: Workspace) -> list[str]:
    """Where the trunk is, here and on the remote."""
    name = trunk(ws)
    if name is None:
        return []
    known = worktree.branches(ws.folder, name)
    remote = _remote(ws, known)
    places = (f"{_HEADS}{name}", f"{_REMOTES}{remote}/{name}")
    return [ref for ref in places if ref in known]


def remote_name(ws: Workspace) -> str:
    """The remote that branches go to."""
    return _remote(ws, worktree.branches(ws.folder, *USUAL))


def _remote(ws: Workspace, refs: dict[str, str]) -> str:
    """The remote whose word counts: the configured one, origin, or the only one."""
    if ws.settings.remote:
        return ws.settings.remote
    names = {
        ref.removeprefix(_REMOTES).partition("/")[0] for ref in refs if ref.startswith(_REMOTES)
    }
    return min(names, key=lambda name: (name != "origin", name), default="origin")
