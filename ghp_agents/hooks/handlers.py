"""The handler of each event, imported when the event happens."""

from ghp_agents.hotpath.locate import guard_is_current

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

        return _with_guard(context, batch(contexts))
    reply = _turn(context) if kind in ("stop", "fail", "compact") else _session(context)
    return _with_guard(context, reply) if kind in ("start", "prompt") else reply


def _with_guard(context: "HookContext", reply: "Reply | None") -> "Reply | None":
    """The reply; git's guard is put back if another program took it away."""
    if guard_is_current(context.place.common_dir, context.environ):
        return reply
    from ghp_agents.core.errors import GhpError
    from ghp_agents.hooks.event import Reply
    from ghp_agents.hotpath import error_log
    from ghp_agents.integrations.git_hooks import renewal

    try:
        changes = renewal.renew(context.app().ws)
    except (GhpError, OSError) as error:
        where = context.place.toplevel or context.place.git_dir
        error_log.log_error(error, where, context.environ, where="put git's guard back")
        return reply
    if not changes:
        return reply
    text = "Another program changed git's hooks. " + " ".join(changes)
    before = reply or Reply()
    lines = filter(None, (before.context, text))
    return Reply(before.deny, "\n".join(lines), before.environ, before.on_sent)


def _turn(context: "HookContext") -> "Reply | None":
    from ghp_agents.hooks import pause

    if context.event.kind == "stop":
        return pause.stop(context)
    if context.event.kind == "fail":
        pause.fail(context)
        return None
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
