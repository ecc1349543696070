"""The branches of the user's repository as last fetched: the remote is not contacted."""

from ghp_agents.core.errors import RefusedError
from ghp_agents.git import worktree_admin
from ghp_agents.settings import consent
from ghp_agents.state.coordination import Remote, coordination_remote
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace

HEADS = "refs/heads/"


def where(ws: Workspace) -> Remote | None:
    """The remote for branches; None: they stay in this clone. Raises RefusedError if nobody agreed
    to the configured one: work must not go elsewhere meanwhile."""
    settings = ws.settings
    if "remote" in settings.unagreed:
        what, hint = consent.sentence("remote", settings.unagreed["remote"], settings.trunk_place)
        raise RefusedError(what, hint=hint)
    return coordination_remote(ws)


def known_tip(ws: Workspace, name: str) -> str:
    """The commit of a branch as last fetched, without contacting the remote; empty if unknown."""
    remote = where(ws)
    ref = tracking(remote, name) if remote else HEADS + name
    return worktree_admin.tip(ws.folder, ref)


def newest_tip(ws: Workspace, name: str) -> str:
    """The commit of a branch in this clone, else as last fetched; empty if it is not known here.
    The name may be any text of a record."""
    if ".." in name or not name.isprintable():
        return ""
    here = worktree_admin.tip(ws.folder, HEADS + name) if name else ""
    try:
        return here or (known_tip(ws, name) if name else "")
    except RefusedError:  # nobody agreed to the remote
        return ""


def main_commit(ws: Workspace) -> str:
    """The default branch's last known commit; empty if there is none."""
    name = trunk(ws)
    return (known_tip(ws, name) or worktree_admin.tip(ws.folder, HEADS + name)) if name else ""


def tracking(remote: Remote, name: str) -> str:
    """The tracking ref of a fetched branch."""
    return f"refs/remotes/{remote.name}/{name}"
