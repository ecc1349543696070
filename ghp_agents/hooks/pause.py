"""The agent comes to rest, or is about to forget: a checkpoint of its work, for who goes on."""

from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.scene import HookContext

WORKING = ("implementing", "planning", "reviewing", "testing")


def stop(context: "HookContext") -> Reply | None:
    """An answer that came meanwhile keeps the agent going, where its client lets it be heard."""
    if context.event.hears:
        from ghp_agents.hooks.news import news

        reply = news(context, "Before this turn ends, ghp-agents has news for this agent:")
        if reply:
            return reply
    before = context.presence() or {}
    beat(context, {"status": "waiting"} if before.get("status") in WORKING else {})
    compact(context)
    return None


def compact(context: "HookContext") -> None:
    """Write down what is in hand; what is as it was says nothing new."""
    from ghp_agents.handoffs import service as handoff

    app = context.app()
    result = handoff.handoff(
        app.ws, app.store, app.knowing_tracker, app.leaser,
        checkpoint=True, unless_empty=True,
    )  # fmt: skip
    if result.is_new:
        settings = {"background": app.ws.settings.background}
        background.start_sync(context.folders, context.environ, context.now, settings, urgent=True)
