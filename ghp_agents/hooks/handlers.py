"""The handler of each event, imported when the event happens."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ghp_agents.hooks.event import Reply
    from ghp_agents.hooks.scene import HookContext


def handle(contexts: "Sequence[HookContext]") -> "Reply | None":
    """Handle an event, which may be about more than one repository, and return the reply."""
    context = contexts[0]
    kind = context.event.kind
    if kind == "edit":
        from ghp_agents.hooks.edit import edit

        return edit(contexts)
    if kind == "batch":
        from ghp_agents.hooks.batch import batch

        return batch(contexts)
    return _turn(context) if kind in ("stop", "compact") else _session(context)


def _turn(context: "HookContext") -> "Reply | None":
    from ghp_agents.hooks import pause

    if context.event.kind == "stop":
        return pause.stop(context)
    pause.compact(context)
    return None


def _session(context: "HookContext") -> "Reply | None":
    from ghp_agents.hooks import session

    if context.event.kind == "wait":
        from ghp_agents.hooks import person_wait

        person_wait.begin(context)
        return None
    if context.event.kind == "end":
        session.end(context)
        return None
    return session.start(context) if context.event.kind == "start" else session.prompt(context)
