"""The status of an agent whose issue is no longer blocked goes back to what it was."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.delivered import is_told, mark_told
from ghp_agents.github.commands import notices
from ghp_agents.hotpath.heartbeat import BEFORE, BLOCKED
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence.amend import amend
from ghp_agents.state.events import WAITING
from ghp_agents.state.ledger import PRESENCE
from ghp_agents.state.presence import issue_of
from ghp_agents.sync import others_news
from ghp_agents.sync.others_news import KEY

AT_WORK = ("implementing", "testing", "reviewing", "planning")
DONE = "unblocked/"  # of an entry that ended a status; the agent may say again that it is blocked


def restore(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[str]:
    """Restore the status of a blocked agent of this clone when its last blocker is closed, because
    no hook may run to report it. That is not a heartbeat. Returns the ids of the news about it."""
    if (ctx.ws.presence(agent) or {}).get("status") != BLOCKED:
        return []
    keys = (key for _, key in others_news.gather(ctx, snapshot, agent))
    ids = [key for key in keys if not is_told(ctx.ws, agent, f"{DONE}{key}")]
    status = status_before(ctx, agent, ids)
    if not status:
        return []

    def change(record: dict[str, Any]) -> bool:
        if record.get("status") != BLOCKED:  # a heartbeat came meanwhile
            return False
        record["status"] = status
        return True

    with suppress(OSError):  # then the next sync, or the delivery of the news, does it
        amend(ctx.ws, agent, change)
        mark_told(ctx.ws, agent, [f"{DONE}{key}" for key in ids])
    return ids


def status_before(ctx: Context, agent: AgentName, ids: Sequence[str]) -> str:
    """The status that the agent had before it was blocked, if the delivered items end that; else
    empty."""
    presence = ctx.ws.presence(agent) or {}
    if presence.get("status") != BLOCKED or not ids:
        return ""
    issues = ctx.tracker.known(closed=True)
    mine = next((issue for issue in issues if issue_of(presence) in issue.numbers), None)
    if mine is None or not mine.blocked_by:
        return ""
    blockers = [issue for issue in issues if not set(issue.numbers).isdisjoint(mine.blocked_by)]
    delivered = {name.removeprefix(KEY) for name in ids}
    moved = [*ctx.store.ledger(), *notices.closed(ctx.ws, "")]
    closed = {x.issue for x in moved if WAITING in x.kind.concerns and x.id in delivered}
    is_free = all(blocker.state == "closed" for blocker in blockers)
    if not is_free or not any(closed.intersection(blocker.numbers) for blocker in blockers):
        return ""
    statuses = [x.object for x in moved if x.event == PRESENCE and x.actor == agent]
    # The ledger lacks a status that was never sent to others.
    statuses.append(str(presence.get("local", {}).get(BEFORE)))
    return next((status for status in reversed(statuses) if status in AT_WORK), "planning")
