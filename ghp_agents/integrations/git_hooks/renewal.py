"""Puts git's guard back where another program took it out: `lefthook install`, husky, and the like.

Hooks of clients, heartbeats and commands ask `locate.guard_is_current`, which reads a few files and
starts nothing. Only if something changed, all hooks are looked at.
"""

from collections.abc import Sequence

from ghp_agents.core import files
from ghp_agents.hotpath import locate
from ghp_agents.integrations.git_hooks import install
from ghp_agents.workspace import Workspace


def renew(ws: Workspace) -> Sequence[str]:
    """Put back what is missing; a sentence on each change. Raises GhpError, OSError."""
    changes: list[str] = []
    for step in install.to_renew(ws):
        step.act()
        changes.append(f"{step.did} {step.what}.")
    stamp = locate.guard_stamp(str(ws.common_dir), ws.environ)
    files.write_atomically(ws.common_dir / locate.GUARD_STAMP, stamp)
    return changes
