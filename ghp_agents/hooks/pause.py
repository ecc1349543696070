"""The agent comes to rest, or is about to forget: a checkpoint of its work, for who goes on."""

from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.scene import HookContext

WORKING = ("implementing", "planning", "reviewing", "testing")


def stop(scene: "HookContext") -> Reply | None:
    """An answer that came meanwhile keeps the agent going, where its client lets it be heard."""
    if scene.event.hears:
        from ghp_agents.hooks.news import news

        heard = news(scene, "Before this turn ends, ghp-agents has news for this agent:")
        if heard:
            return heard
    before = scene.presence() or {}
    beat(scene, {"status": "waiting"} if before.get("status") in WORKING else {})
    compact(scene)
    return None


def compact(scene: "HookContext") -> None:
    """Write down what is in hand; what is as it was says nothing new."""
    from ghp_agents.handoffs import service as handoff

    app = scene.app()
    handed = handoff.handoff(
        app.ws, app.store, app.knowing_tracker, app.leaser,
        checkpoint=True, unless_empty=True,
    )  # fmt: skip
    if handed.is_new:
        settings = {"background": app.ws.settings.background}
        background.start_sync(scene.folders, scene.environ, scene.now, settings, urgent=True)
