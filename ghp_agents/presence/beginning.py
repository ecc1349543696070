"""An agent begins with the first thing that it gets: a refused command registers nobody."""

from ghp_agents.core.ids import AgentName
from ghp_agents.ports import StateStore
from ghp_agents.presence import service as presence
from ghp_agents.workspace import Workspace


def has_begun(ws: Workspace, agent: AgentName) -> bool:
    """Whether an agent is registered here and has not stopped."""
    fields = ws.presence(agent)
    return fields is not None and fields.get("status") != "stopped"


def begin(ws: Workspace, store: StateStore, agent: AgentName) -> None:
    """Register an agent that has not begun or has stopped; record a heartbeat of any other.

    Raises OSError when no folder can be written.
    """
    stopped = (ws.presence(agent) or {}).get("status") == "stopped"
    presence.heartbeat(ws, store, agent, {"status": "idle"} if stopped else {})
