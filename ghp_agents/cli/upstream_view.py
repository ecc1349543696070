"""What upstream's `ghp` says of agents, as `agent-status` shows it; what reads it is loaded only
where it has said anything."""

import os
from collections.abc import Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.presence.service import AgentView
from ghp_agents.wiring import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.integrations.upstream_ghp.agents import Heard

OF_USER = ("/.ghp/agents.json", "/.config/ghp-cli/coordination/agent-status.json")
OF_CLONE = "/ghp-pipeline.json"


def heard(app: App, seen: Sequence[AgentView]) -> "Heard | None":
    """What is noted of agents in this clone; None where nothing is."""
    home = app.environ.get("HOME") or "/"
    files = [*(home + path for path in OF_USER), app.ws.place.common_dir + OF_CLONE]
    if not any(map(os.path.exists, files)):
        return None
    from ghp_agents.integrations.upstream_ghp import agents as upstream_agents

    return upstream_agents.listen(app.ws, seen)


def joined(document: dict[str, Any], known: "Heard | None", name: str | None) -> dict[str, Any]:
    """The joined document, with what upstream says beside the agents."""
    if known is None:
        return document
    from ghp_agents.integrations.upstream_ghp import agents as upstream_agents

    shown = upstream_agents.document(known, [name] if name else None)
    return {**document, "upstream": shown} if shown else document


def tell(known: "Heard | None", name: str | None) -> None:
    """Print it; of the agent that is named, or of all."""
    if known is None:
        return
    from ghp_agents.integrations.upstream_ghp import agents as upstream_agents

    for sentence in upstream_agents.sentences(known, [name] if name else None):
        output.data(output.clean(f"  {sentence}" if name else sentence))


def warn(known: "Heard | None") -> None:
    """Say which of upstream's files cannot be read."""
    for path in known.broken if known else ():
        output.warn(
            f"{path} cannot be read and is left out.",
            "It is upstream's: `ghp agents list` and `ghp status` read it, too.",
        )
