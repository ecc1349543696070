"""Reads what a timeline is made of: the ledger since a time, and the state at both ends."""

from collections.abc import Iterator, Mapping, Sequence

from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.ids import UNNAMED, Timestamp
from ghp_agents.escalations import service as escalation
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.reports.timeline import Timeline
from ghp_agents.reports.timeline_replay import TimelineFacts, build
from ghp_agents.state.ledger import PRESENCE, LedgerEntry
from ghp_agents.state.presence import issue_of

HOUR, A_DAY = 3_600.0, 86_400.0  # seconds
_DEAD = (Liveness.DEAD, Liveness.GONE)


def read_timeline(ctx: Context, since: float, until: float | None = None) -> Timeline:
    """The timeline between two times in seconds; without `until` up to now. Raises GhpError if the
    state cannot be read."""
    now = ctx.ws.clock.now()
    end = now if until is None else min(until, now)
    then, snapshot = ctx.store.snapshot(since), ctx.store.snapshot()
    if end < now:
        views = presence.look_back(ctx.ws, ctx.store.snapshot(end), end)
    else:
        views = presence.list_agents(ctx, snapshot)
    issues = ctx.tracker.known(closed=True)
    return build(
        TimelineFacts(
            since=since,
            until=end,
            now=now,
            entries=[*_at_the_beginning(ctx, then, since), *ctx.store.ledger(after=then.tips())],
            dead={view.name: _last_sign(view, end) for view in views if view.liveness in _DEAD},
            numbers=_numbers(issues),
            titles={issue.number: issue.title for issue in issues},
            orchestrators=ctx.ws.settings.orchestrators,
        )
    )


def last_day(ctx: Context, *, titled: bool) -> Timeline:
    """The day that ends with the newest entry: the same in all clones that have the same state.
    Without `titled` it names no issue's title."""
    now = ctx.ws.clock.now()
    recent = ctx.store.ledger(after=ctx.store.snapshot(now - 2 * A_DAY).tips())
    newest = _newest(recent, now)
    if newest is None or newest < now - A_DAY:
        newest = _newest(ctx.store.ledger(), now)
    if newest is None:
        return Timeline(now, now, (), {})
    found = read_timeline(ctx, newest - A_DAY, newest)
    return found if titled else found._replace(titles={})


def _newest(entries: Sequence[LedgerEntry], now: float) -> float | None:
    """The time of the newest entry; an hour if a clock is ahead."""
    times = [_seconds(entry.at) for entry in entries]
    known = [at for at in times if at is not None]
    if not known:
        return None
    return max(known) if max(known) <= now else now - now % HOUR


def _seconds(text: str) -> float | None:
    try:
        return to_seconds(text)
    except (ValueError, OverflowError):
        return None


def _numbers(issues: Sequence[Issue]) -> Mapping[int, int]:
    return {number: issue.number for issue in issues for number in issue.numbers}


def _last_sign(view: AgentView, end: float) -> float:
    """The last sign of life, by this machine's clock."""
    at = _seconds(str(view.presence.get("timestamp")))
    return max(0.0, end - view.silent) if at is None else min(end, at)


def _at_the_beginning(ctx: Context, then: Snapshot, since: float) -> Iterator[LedgerEntry]:
    """Entries for what the agents did then, and for the questions that were open."""
    at = Timestamp(to_text(since))
    for view in presence.look_back(ctx.ws, then, since):
        if view.liveness in LIVING:
            status, action = (str(view.presence.get(key) or "") for key in ("status", "lastAction"))
            yield LedgerEntry(
                0, UNNAMED, f"then/{view.name}", PRESENCE, view.name, status or "idle", at,
                issue=issue_of(view.presence), text=action,
            )  # fmt: skip
    for each in escalation.read_all(then, ctx.ws.settings.orchestrators)[0]:
        if each.is_open:
            yield LedgerEntry(
                0, UNNAMED, each.id, "escalate", each.question.agent, each.name, each.asked_at,
                issue=each.question.issue, text=each.title,
            )  # fmt: skip
