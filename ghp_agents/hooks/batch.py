"""After the agent's tools have run: a heartbeat with its last action, a look at what shell commands
wrote, and news if there is any."""

import os

from ghp_agents.hooks.action import action
from ghp_agents.hooks.event import EDITED, RAN, Reply
from ghp_agents.hooks.presence import beat
from ghp_agents.hotpath import heartbeat, news_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ghp_agents.hooks.event import Event
    from ghp_agents.hooks.scene import HookContext

UNRECORDED = "Nothing was recorded: "  # what a command prints that could write nowhere


def batch(contexts: "Sequence[HookContext]") -> Reply | None:
    """Renew the presence; reply with news that the agent has not seen, and with what is wrong in
    the worktrees that it may have written to."""
    since = {x.place.git_dir: str((x.presence() or {}).get("timestamp", "")) for x in contexts}
    replies = [_home(x) if x.is_home else _elsewhere(x, since[x.place.git_dir]) for x in contexts]
    lines = _run(contexts[0].event)
    if any("git" in line for line in lines):
        from ghp_agents.hooks import shell_writes

        for context in contexts:
            shell_writes.note_commits(context, since[context.place.git_dir])
    if any("channels" in line.lower() for line in lines):
        from ghp_agents.hooks import persons_files

        replies += [persons_files.after_step(x, since[x.place.git_dir]) for x in contexts]
    return joined([reply for reply in replies if reply])


def _elsewhere(context: "HookContext", since: str) -> Reply | None:
    """What the step did in a worktree that the session does not stand in."""
    from ghp_agents.hooks import shell_writes

    uses = context.event.tool_uses
    if not context.here:  # its presence is in another repository
        from ghp_agents.hooks.paths import targets

        paths = [path for use in uses if use.verb == EDITED for path in use.what]
        if not targets(paths, context.event.cwd, context.place, context.environ):
            if context.presence() is None:
                return None  # a command only named the repository
        else:
            beat(context, {}, progress=True)
    if any(use.verb == RAN or use.is_foreign for use in uses):
        return shell_writes.look(context, since)
    return shell_writes.look_at_edits(context) if uses else None


def _home(context: "HookContext") -> Reply | None:
    event = context.event
    fields: dict[str, Any] = {}
    presence = context.presence() or {}
    if presence.get("status") == "waiting":
        from ghp_agents.hooks import person_wait

        fields |= person_wait.ended(presence)
    done = action(event.tool_uses, event.cwd, context.place.toplevel)
    if done:
        fields["lastAction"] = heartbeat.clean_action(done)
    if event.hears and any("agent-heartbeat" in what for what in _run(event)):
        from ghp_agents.hooks import carried_command

        fields |= carried_command.heartbeat_fields(context)
    beat(context, fields, progress=any(use.verb == EDITED for use in event.tool_uses))
    replies: list[Reply | None] = []
    if UNRECORDED in event.printed and event.hears:
        from ghp_agents.hooks import carried_command

        replies.append(carried_command.carry_out(context))
    if any(use.verb == RAN or use.is_foreign for use in event.tool_uses):
        from ghp_agents.hooks import shell_writes

        replies.append(shell_writes.look(context))
    elif any(use.verb == EDITED for use in event.tool_uses) and _is_contested(context):
        from ghp_agents.hooks import shell_writes

        replies.append(shell_writes.look_at_edits(context))
    if event.hears and event.takes_news and news_flag.is_set(context.folders, context.agent):
        from ghp_agents.hooks.news import mark_read, news

        mark_read(context)
        replies.append(news(context, "ghp-agents has news for this agent:"))
    return joined([reply for reply in replies if reply])


def _run(event: "Event") -> "list[str]":
    """The commands of this step."""
    return [what for use in event.tool_uses if use.verb == RAN for what in use.what]


def _is_contested(context: "HookContext") -> bool:
    """Whether any file is edited in two worktrees: two of the names of implicit leases then begin
    with the same path. Agents that asked at the same moment were both allowed."""
    names: list[str] = []
    for folder in context.folders:
        try:
            names += {name[:65] for name in os.listdir(f"{folder}/touched") if len(name) == 65}
        except OSError:
            continue
    return len({name[:32] for name in names}) < len(set(names))


def joined(replies: "Sequence[Reply]") -> Reply | None:
    """One reply with all contexts; None without any."""
    if len(replies) < 2:
        return replies[0] if replies else None

    def on_sent() -> None:
        for reply in replies:
            if reply.on_sent:
                reply.on_sent()

    return Reply(context="\n".join(reply.context for reply in replies), on_sent=on_sent)
