"""An agent in another clone that has the same name: nobody else begins under it, and both hear."""

from ghp_agents.core.clock import ago, to_seconds
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.quoting import named
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView


def refuse(ctx: Context, name: str) -> None:
    """Raise RefusedError if an agent of another clone is at work under this name, and none here."""
    if _lives_here(ctx, name):
        return
    other = find(ctx, ctx.store.snapshot(), name)
    if other is not None:
        raise RefusedError(
            f"{_words(other)}. Two agents cannot have one name.",
            hint=f"Use another name, such as `--as {_free(ctx, name)}`. If this agent moved here, "
            f"stop it there first: `ghp agent-status {name} --set stopped`.",
        )


def news(ctx: Context, snapshot: Snapshot, name: str) -> list[tuple[str, str]]:
    """The notice to an agent while another clone has an agent of its name, with an id."""
    other = find(ctx, snapshot, name) if _lives_here(ctx, name) else None
    if other is None:
        return []
    text = (
        f"{_words(other)}. If you did not move here from there, two agents have one name: rename "
        "this one with `ghp agent-whoami --set NAME`, in a worktree of its own."
    )
    return [(text, f"rival {other.clone}")]


def find(ctx: Context, snapshot: Snapshot, name: str) -> AgentView | None:
    """The agent of another clone that is at work under this name, as far as known here."""
    views = presence.elsewhere(ctx, snapshot, name)
    return next((view for view in views if _is_at_work(ctx, view)), None)


def _is_at_work(ctx: Context, view: AgentView) -> bool:
    """Whether it is active, and not only because this clone has just heard of it: then the other
    machine's time stamp says how old that is. No right depends on it."""
    if view.liveness is not Liveness.ACTIVE or view.has_no_client:
        return False
    if view.presence.get("processRunsFor"):
        return True
    try:
        age = ctx.ws.clock.now() - to_seconds(str(view.presence.get("timestamp")))
    except ValueError:
        return False
    return age < ctx.ws.settings.thresholds.stale


def _lives_here(ctx: Context, name: str) -> bool:
    """Whether the agent has begun in this clone, and neither stopped nor died."""
    limits = ctx.ws.settings.thresholds
    return alive.lives(ctx.ws.folders, name, ctx.ws.clock.now(), limits.dead, limits.gone) is True


def _free(ctx: Context, name: str) -> str:
    """A similar name that no agent has."""
    agents = ctx.store.snapshot().agents()
    return next(f"{name}-{n}" for n in range(2, len(agents) + 3) if f"{name}-{n}" not in agents)


def _words(other: AgentView) -> str:
    heard = f", seen {ago(other.heard)} ago" if other.heard is not None else ""
    return f"{named(other.name)} is at work in another clone ({other.clone}){heard}"
