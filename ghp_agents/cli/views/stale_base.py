"""Shows whose work no longer merges with the main branch, as the background found it."""

from collections.abc import Sequence

from ghp_agents.cli import output
from ghp_agents.presence.service import AgentView
from ghp_agents.workspace import Workspace

FILE = "stale.json"  # of conflicts/stale_base.py


def tell(ws: Workspace, views: Sequence[AgentView]) -> None:
    """One line for each agent of this clone whose work does not."""
    try:
        if (ws.cache_dir / FILE).stat().st_size <= len("{}"):
            return  # without the modules that read conflicts
    except OSError:
        return
    from ghp_agents.conflicts import stale_base

    for view in views:
        base = stale_base.known(ws, view.name) if view.is_here else None
        if base:
            output.say(f"{view.name}: {stale_base.sentence(base)}")
