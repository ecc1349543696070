"""The agent stops, or its context is compacted: a checkpoint of its work for the next session."""

from ghp_agents.hooks import usage
from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.scene import HookContext

WORKING = ("implementing", "planning", "reviewing", "testing")


def stop(context: "HookContext") -> Reply | None:
    """Continue the agent if there is news for it and its client allows that; else a checkpoint."""
    if context.event.hears:
        from ghp_agents.hooks.news import news

        reply = news(context, "Before this turn ends, ghp-agents has news for this agent:")
        if reply:
            usage.note(context, usage.counting(context))
            return reply
    before = context.presence() or {}
    beat(context, {"status": "waiting"} if before.get("status") in WORKING else {})
    compact(context)
    _obey(context)
    return None


def _obey(context: "HookContext") -> None:
    """Mark the agent as stopped if it was told to stop: its turn has ended."""
    from ghp_agents.presence import stopping

    app = context.app()
    stopping.settle(app, app.store.snapshot(), [context.agent])


def compact(context: "HookContext") -> None:
    """Write a checkpoint, unless nothing has changed."""
    from ghp_agents.handoffs import service as handoff

    app = context.app()
    result = handoff.handoff(
        app.offline,
        checkpoint=True, unless_empty=True,
    )  # fmt: skip
    if result.is_new:
        settings = {"background": app.ws.settings.background}
        background.start_sync(context.folders, context.environ, context.now, settings, urgent=True)
