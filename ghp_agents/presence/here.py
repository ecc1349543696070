"""The agents of this clone."""

from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath import heartbeat
from ghp_agents.workspace import Workspace

STOPPED = (None, "stopped")  # statuses
CLIENTS = "clients"  # a folder that exists where `client_process` noted a client


def agents_here(ws: Workspace) -> list[AgentName]:
    """The agents of this clone that have not stopped."""
    files = [path for folder in ws.folders for path in Path(folder, "agents").glob("*.json")]
    names = sorted({path.stem for path in files if heartbeat.is_name(path.stem)})
    living = [name for name in names if (ws.presence(name) or {}).get("status") not in STOPPED]
    return [AgentName(name) for name in living]
