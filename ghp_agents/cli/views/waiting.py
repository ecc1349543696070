"""Who waits for whom, for `agent-status`; the wait graph is imported only if somebody may wait."""

from collections.abc import Sequence

from ghp_agents.cli import output
from ghp_agents.presence.service import AgentView
from ghp_agents.reports.read_overview import Team

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.leases.wait_graph import Wait


def warn(team: Team) -> None:
    """Warn of what could not be read; the rest of the status can still be shown."""
    for error in team.troubles:
        output.warn(f"Cannot tell who waits for whom: {error}", error.hint)


def shown(views: list[AgentView], waits: "Sequence[Wait]") -> list[AgentView]:
    """The agents, with blocked ones marked."""
    if not waits:
        return views
    from ghp_agents.leases import deadlocks

    return deadlocks.shown(views, waits)


def tell(waits: "Sequence[Wait]", views: Sequence[AgentView], indent: str = "") -> None:
    """Print who each agent waits for."""
    if not waits:
        return
    from ghp_agents.leases import deadlocks

    for sentence in deadlocks.sentences(waits, [view.name for view in views]):
        output.page(f"{indent}{sentence}")
