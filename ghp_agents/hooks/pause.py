"""The agent stops, or its context is compacted: a checkpoint of its work for the next session."""

from ghp_agents.hooks import usage
from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import background, heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.scene import HookContext

WORKING = ("implementing", "planning", "reviewing", "testing")
# What ended a turn, by the name of Claude Code and Qwen Code.
FAILURES = {
    "rate_limit": "its limit",
    "billing_error": "its credit",
    "authentication_failed": "its login",
    "overloaded": "its service, which is overloaded",
    "server_error": "its service, which has an error",
}
SHOWN = 120  # characters of what the client said: it names the time at which a limit ends


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


def fail(context: "HookContext") -> None:
    """An error of its model ended the turn: the agent rests, and shows why. What a hook prints then
    reaches nobody."""
    event = context.event
    reason = FAILURES.get(event.about, "an error of its model")
    line = event.message.strip().split("\n")[0][:SHOWN] if event.about in FAILURES else ""
    words = "".join([char if char.isprintable() else " " for char in line]).strip()
    reason += f" («{words}»)" if words else ""
    beat(context, {"status": "waiting", "lastAction": f"{heartbeat.WAITS}: {reason}"})
    compact(context)
    _obey(context)


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
