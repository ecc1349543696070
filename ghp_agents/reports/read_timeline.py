"""Reads what a timeline is made of: the ledger since a time, and the state at both ends."""

from collections.abc import Iterator, Sequence

from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.ids import UNNAMED, Timestamp
from ghp_agents.hotpath import alive
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.reports.timeline import SETTLED, Timeline
from ghp_agents.reports.timeline_replay import TimelineFacts, build
from ghp_agents.state.ledger import PRESENCE, LedgerEntry
from ghp_agents.state.presence import issue_of
from ghp_agents.world import World

HOUR, A_DAY = 3_600.0, 86_400.0  # seconds
ENDS = ("lease-release", "release", "issue-close", "decide", "stop")  # may settle a question
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
    recorded = ctx.store.ledger(after=then.tips())
    settled = _settled(ctx, snapshot, recorded, end)
    entries = [*_at_the_beginning(ctx, then, since), *recorded, *settled]
    issues = ctx.tracker.known(closed=True)
    return build(_facts(ctx, since, end, now, entries, views, issues))


def last_day(ctx: Context, snapshot: Snapshot, *, titled: bool) -> Timeline:
    """The day that ends with the newest entry: the same in all clones that have the same state.
    Without `titled` it names no issue's title."""
    entries = ctx.store.ledger()  # all of it: a past state takes more git processes
    end = _newest(entries, ctx.ws.clock.now())
    entries = [*entries, *_settled(ctx, snapshot, entries, end)]
    views = presence.look_back(ctx.ws, snapshot, end)
    issues = ctx.tracker.known(closed=True) if titled else ()
    return build(_facts(ctx, end - A_DAY, end, end, entries, views, issues))


def _facts(
    ctx: Context,
    since: float,
    until: float,
    now: float,
    entries: Sequence[LedgerEntry],
    views: Sequence[AgentView],
    issues: Sequence[Issue],
) -> TimelineFacts:
    return TimelineFacts(
        since=since,
        until=until,
        now=now,
        entries=entries,
        dead={view.name: _last_sign(view, until) for view in views if view.liveness in _DEAD},
        numbers={number: issue.number for issue in issues for number in issue.numbers},
        titles={issue.number: issue.title for issue in issues},
        orchestrators=ctx.ws.settings.orchestrators,
        silent={view.name: _last_sign(view, until) for view in views if _is_silent(ctx, view)},
    )


def _is_silent(ctx: Context, view: AgentView) -> bool:
    """Whether there is no sign that an agent works: a stale one whose process runs may be
    thinking."""
    if view.has_no_client:
        return True
    runs = bool(view.presence.get("processRunsFor")) or (
        view.is_here and alive.process_lives(ctx.ws.presence(view.name) or {})
    )
    return view.liveness is Liveness.STALE and not runs


def _newest(entries: Sequence[LedgerEntry], now: float) -> float:
    """The time of the newest entry; the hour if a clock is ahead."""
    times = [at for entry in entries if (at := _seconds(entry.at)) is not None]
    newest = max(times, default=now)
    return newest if newest <= now else now - now % HOUR


def _seconds(text: str) -> float | None:
    try:
        return to_seconds(text)
    except (ValueError, OverflowError):
        return None


def _last_sign(view: AgentView, end: float) -> float:
    """The last sign of life, by this machine's clock."""
    at = _seconds(str(view.presence.get("timestamp")))
    return max(0.0, end - view.silent) if at is None else min(end, at)


def _settled(
    ctx: Context, snapshot: Snapshot, entries: Sequence[LedgerEntry], end: float
) -> Iterator[LedgerEntry]:
    """An entry for the end of each question that needs no answer any more: when the first of what
    it is about ended, else when it was asked."""
    for question in settled_questions.read(World(ctx, snapshot)):
        if not question.settled:
            continue
        about = {*question.question.about, *(f"L-{name}" for name in question.question.about)}
        number = question.question.issue
        ends = (
            entry.at
            for entry in entries
            if entry.event in ENDS and (entry.object in about or entry.issue in {number} - {None})
            if entry.at >= question.asked_at
        )
        at = min(ends, default=question.asked_at)
        if (_seconds(at) or 0.0) <= end:
            yield LedgerEntry(
                0, UNNAMED, f"settled/{question.id}", SETTLED, question.question.agent,
                question.name, at, issue=number,
            )  # fmt: skip


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
    for question in settled_questions.read(World(ctx, then, since)):
        if question.is_open:
            yield LedgerEntry(
                0, UNNAMED, question.id, "escalate", question.question.agent, question.name,
                question.asked_at, issue=question.question.issue, text=question.title,
            )  # fmt: skip
