"""The coordination remote: which it is, and where our refs are there."""

from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import object_file
from ghp_agents.workspace import Workspace

CUSTOM = "refs/ghp/"  # invisible in clones, web pages and checks
BRANCHES = "refs/heads/ghp/"  # for hosts that accept only branches and tags
NAMESPACE_CACHE = "remote.json"


class Remote(NamedTuple):
    """The coordination remote, and the namespace of our refs there."""

    name: str
    namespace: str = CUSTOM
    settled: bool = False  # the namespace is known, not assumed

    def ref(self, local: str) -> str:
        """The remote's name of our ref `refs/ghp/…`."""
        return self.namespace + local.removeprefix(CUSTOM)


def coordination_remote(ws: Workspace) -> Remote | None:
    """The configured remote, else `origin`, else the only one; None: everything stays in this
    clone.

    Raises GhpError if the configured remote does not exist.
    """
    if not ws.settings.push or "remote" in ws.settings.unagreed:
        return None
    remotes = ws.remotes
    wanted = ws.settings.remote
    if wanted and wanted not in remotes:
        raise GhpError(
            f"The configured remote {wanted!r} does not exist in this repository.",
            hint=f"Remotes: {', '.join(remotes) or 'none'}. Fix `agents.remote` in the "
            "configuration, or add the remote with `git remote add`.",
        )
    name = wanted or ("origin" if "origin" in remotes else next(iter(remotes), None))
    if name is None or (not wanted and name != "origin" and len(remotes) > 1):
        return None
    noted = object_file(ws.cache_dir / NAMESPACE_CACHE).read().get(digest(remotes[name]))
    namespace = noted if noted in (BRANCHES, CUSTOM) else None
    return Remote(name, namespace or CUSTOM, settled=namespace is not None)


def why_none(ws: Workspace) -> str:
    """Why there is no coordination remote, for people."""
    if not ws.settings.push:
        return "`agents.push` is false"
    if "remote" in ws.settings.unagreed:
        return (
            "nobody has approved the remote in `.ghp/config.json` on "
            f"{ws.settings.trunk_place}; a person can review it with `ghp agent-trust`"
        )
    remotes = sorted(ws.remotes)
    if len(remotes) > 1:
        return (
            f"none of the remotes {', '.join(remotes)} is called origin, and `agents.remote` is "
            "not set"
        )
    return "there is no remote"
