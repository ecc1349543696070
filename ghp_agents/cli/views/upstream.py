"""What upstream's `ghp` reports about agents, for `agent-status`.

The parser is imported only if upstream's files exist.
"""

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


def heard(app: App, agents: Sequence[AgentView]) -> "Heard | None":
    """Upstream's reports about agents in this clone; None if there are none."""
    home = app.environ.get("HOME") or "/"
    files = [*(home + path for path in OF_USER), app.ws.place.common_dir + OF_CLONE]
    if not any(map(os.path.exists, files)):
        return None
    from ghp_agents.integrations.upstream_ghp import agents as upstream_agents

    return upstream_agents.listen(app.ws, agents)


def joined(document: dict[str, Any], reports: "Heard | None", name: str | None) -> dict[str, Any]:
    """The joined document, with upstream's reports under `upstream`."""
    shown = reports.document(name) if reports else []
    return {**document, "upstream": shown} if shown else document


def rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Each agent of the document as a row, for `--json FIELDS`."""
    return [{"agent": name, **fields} for name, fields in document["agents"].items()]


def tell(reports: "Heard | None", name: str | None) -> None:
    """Print the reports, of all agents or of the named one."""
    for sentence in reports.sentences(name) if reports else ():
        output.page(f"  {sentence}" if name else sentence)


def warn(reports: "Heard | None") -> None:
    """Warn about upstream's files that cannot be read."""
    for path in reports.broken if reports else ():
        output.warn(
            f"Skipped {path}: not readable.",
            "The file belongs to upstream: `ghp agents list` and `ghp status` read it, too.",
        )
