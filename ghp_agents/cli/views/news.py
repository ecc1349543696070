"""How old this clone's news of the others is, and asking the remote for more before an answer."""

from collections.abc import Sequence

from ghp_agents.claims import shown_work
from ghp_agents.cli import output
from ghp_agents.core.clock import ago
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state.join import SyncReport, SyncStatus
from ghp_agents.wiring import App

LIMIT_S = 1.5  # seconds that a person waits for the remote
OLD_S = 60.0  # seconds; newer news is not asked for again


def look(app: App, *, processes: bool, offline: bool) -> tuple[Snapshot, list[AgentView]]:
    """The state and the agents; asks the remote first, unless `offline`, if nobody is known."""
    snapshot = app.store.snapshot()
    seen = presence.list_agents(app, snapshot, processes=processes)
    if not offline and _ask(app, seen):
        snapshot = app.store.snapshot()
        seen = presence.list_agents(app, snapshot, processes=processes)
    return snapshot, shown_work.shown(app, snapshot, seen)


def _ask(app: App, seen: Sequence[AgentView]) -> bool:
    """Ask the remote, if nobody is known to be alive and the news is old. Returns whether it
    answered."""
    if any(view.liveness in LIVING for view in seen):
        return False
    status, now = app.exchange.sync_status(), app.ws.clock.now()
    if status.remote is None or (status.news_at is not None and now - OLD_S < status.news_at):
        return False
    with output.busy(f"Asking {status.remote}"):
        report = ask(app)
    tell_trouble(report)
    return report.fetched


def is_old(app: App) -> bool:
    """Whether the news of the others is older than a sync would leave it; not without a remote."""
    status, now = app.exchange.sync_status(), app.ws.clock.now()
    pause = app.ws.settings.sync_every
    return status.remote is not None and not (status.news_at and now - pause < status.news_at)


def ask(app: App) -> SyncReport:
    """Ask the remote for news, for at most LIMIT_S."""
    return app.exchange.hear(LIMIT_S)


def tell_trouble(report: SyncReport) -> None:
    """Warn that the remote could not be asked."""
    if report.trouble:
        output.warn(
            f"Could not ask {report.remote} who is there: {report.trouble}",
            "This is what this clone knows. `ghp agent-sync` waits longer for the remote.",
        )


def age(app: App, status: SyncStatus) -> str:
    """When this clone last heard of the others; empty without a remote."""
    if status.remote is None:
        return ""
    now = app.ws.clock.now()
    heard = f"{ago(now - status.news_at)} ago" if status.news_at else "never"
    return f"Last news from {status.remote}: {heard}"
