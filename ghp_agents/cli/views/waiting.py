"""Who waits for whom, for `agent-status`; the wait graph is imported only if somebody may wait."""

from collections.abc import Sequence

from ghp_agents.cli import output
from ghp_agents.core.errors import UnknownError
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.wiring import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.leases.wait_graph import Wait


def waits(app: App, snapshot: Snapshot, seen: Sequence[AgentView]) -> "list[Wait]":
    """Who waits for whom, as far as this clone knows."""
    if not presence.may_wait(snapshot, seen):
        return []
    from ghp_agents.leases import deadlocks

    try:
        return deadlocks.waits(app.offline, snapshot, seen)
    except UnknownError as error:  # the rest of the status can still be shown
        output.warn(f"Cannot tell who waits for whom: {error}", error.hint)
        return []


def shown(views: list[AgentView], known: "list[Wait]") -> list[AgentView]:
    """The agents, with blocked ones marked."""
    if not known:
        return views
    from ghp_agents.leases import deadlocks

    return deadlocks.shown(views, known)


def tell(known: "list[Wait]", views: Sequence[AgentView], indent: str = "") -> None:
    """Print who each agent waits for."""
    if not known:
        return
    from ghp_agents.leases import deadlocks

    for sentence in deadlocks.sentences(known, [view.name for view in views]):
        output.data(output.clean(f"{indent}{sentence}"))
