"""News for orchestrators: an agent with a claim is stale, is dead, or has ended."""

from ghp_agents.claims import shown_work
from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import AgentView, Liveness
from ghp_agents.state.presence import position

KEY = "ended/"  # of the news among what was delivered
LOST = (Liveness.STALE, Liveness.DEAD, Liveness.GONE)


def news(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[tuple[str, str]]:
    """What an orchestrator hears of each such agent, once for each of its lives and states."""
    if agent not in ctx.ws.settings.orchestrators:
        return []
    views = shown_work.shown(ctx, snapshot, presence.list_agents(ctx, snapshot))
    return [
        (_text(view), f"{KEY}{view.name}/{position(view.presence)[0]}/{view.state}")
        for view in views
        if view.claimed and view.name != agent and _is_lost(view)
    ]


def _is_lost(view: AgentView) -> bool:
    return view.liveness in LOST or view.has_no_client or (view.has_ended and view.unfinished != "")


def _text(view: AgentView) -> str:
    why = f" Its `agent-finish` failed: {phrase(view.unfinished)}" if view.unfinished else ""
    then = "ghp agent-sweep" if view.liveness in LOST[1:] else f"ghp agent-explain {view.claimed}"
    if view.has_ended:
        then = view.continuing
    return f"{named(view.name)} has #{view.claimed}, and {view.words}.{why} Next: `{then}`."
