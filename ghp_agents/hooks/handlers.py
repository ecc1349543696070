"""Which handler an event has; each is imported when its event happens."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.event import Reply
    from ghp_agents.hooks.scene import HookContext


def handle(scene: "HookContext") -> "Reply | None":
    """Do what an event asks for; what the agent is told."""
    kind = scene.event.kind
    if kind == "edit":
        from ghp_agents.hooks.edit import edit

        return edit(scene)
    if kind == "batch":
        from ghp_agents.hooks.batch import batch

        return batch(scene)
    return _turn(scene) if kind in ("stop", "compact") else _session(scene)


def _turn(scene: "HookContext") -> "Reply | None":
    from ghp_agents.hooks import pause

    if scene.event.kind == "stop":
        return pause.stop(scene)
    pause.compact(scene)
    return None


def _session(scene: "HookContext") -> "Reply | None":
    from ghp_agents.hooks import session

    if scene.event.kind == "end":
        session.end(scene)
        return None
    return session.start(scene) if scene.event.kind == "start" else session.prompt(scene)
