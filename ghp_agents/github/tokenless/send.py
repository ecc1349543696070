"""A clone with a token sends what clones without one left in the state, each once.

One clone at a time does it, by the lock of comment commands. What it writes on GitHub carries the
request's id, so a sender that was killed before it recorded the result writes nothing twice.
"""

from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import Timestamp, one_line
from ghp_agents.github.api.errors import ForbiddenError, TokenError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands.lock import turn
from ghp_agents.github.forge import GitHubForge
from ghp_agents.github.tokenless import request
from ghp_agents.github.tokenless.authority import allowed
from ghp_agents.github.tokenless.request import (
    CHANGE,
    COMMENT,
    CREATE,
    REFUSED,
    SENT,
    RequestResult,
    WriteRequest,
)
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.tracker import GitHubTracker
from ghp_agents.github.wording import PROGRAM
from ghp_agents.issues.issue import NO_CHANGE, IssueChange
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.codec import seconds
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text

MOST = 40  # requests in one sync: writes are a second apart, the rest waits for the next sync
PATIENCE_S = 7 * 86_400.0  # seconds in which what a token may not do is tried again


class Delivery(NamedTuple):
    """Notes for people, and the issues whose state must be shown again."""

    notes: tuple[str, ...] = ()
    issues: frozenset[int] = frozenset()


def send_all(ctx: Context, hub: GitHubRepository) -> Delivery:
    """Send what waits, oldest first, and record what became of it. What GitHub or the remote
    cannot answer now waits for the next sync."""
    if not request.outgoing(ctx.store.snapshot()).waiting:
        return Delivery()
    try:
        with turn(ctx) as mine:
            if mine is None:
                return Delivery()  # another clone sends them now
            report = ctx.store.sync(push=False)
            if report.remote and not report.fetched:
                return Delivery()
            notes: list[str] = []
            issues: set[int] = set()
            try:
                later: set[int] = set()  # issues whose earlier request waits
                for waiting in request.outgoing(ctx.store.snapshot()).waiting[:MOST]:
                    if waiting.issue in later:
                        continue
                    mine.renew_if_due()
                    try:
                        result = _result(ctx, hub, waiting)
                    except ForbiddenError as error:  # another token may be allowed to
                        later |= {waiting.issue} - {0}
                        notes.append(_not_yet(waiting, error))
                        continue
                    notes.append(_note(waiting, result))
                    issues |= {waiting.issue, result.number if waiting.kind == CREATE else 0}
            finally:
                mine.is_kept = bool(ctx.store.sync(fetch=False).trouble)
    except (UnknownError, TokenError) as error:
        return Delivery((f"Not sent for other clones yet: {one_line(str(error), 200)}",))
    return Delivery(tuple(notes), frozenset(issues - {0}))


def _note(waiting: WriteRequest, result: RequestResult) -> str:
    whose = f"{waiting.says} by {one_line(waiting.by.name, 80)}, whose clone has no token"
    if result.fate == REFUSED:
        return f"Not sent to GitHub: {whose}: {result.why}"
    return f"Sent to GitHub: {whose}."


def _not_yet(waiting: WriteRequest, error: ForbiddenError) -> str:
    return f"Not sent to GitHub yet: {waiting.says}: {one_line(str(error), 200)}"


def _result(ctx: Context, hub: GitHubRepository, waiting: WriteRequest) -> RequestResult:
    """Send one request and record the result. Raises UnknownError, TokenError, and ForbiddenError
    for a week: what this token may not, another clone's may."""
    fate, why, number = SENT, "", 0
    try:
        number, why = _perform(ctx, hub, waiting)
    except (UnknownError, TokenError):
        raise
    except GhpError as error:
        is_new = ctx.ws.clock.now() - seconds(waiting.at) < PATIENCE_S
        if isinstance(error, ForbiddenError) and is_new:
            raise
        fate, why = REFUSED, one_line(str(error), 200)

    def decide(snapshot: Snapshot) -> tuple[RequestResult, list[Record]]:
        at, clock = Timestamp(now_text(ctx.ws)), snapshot.clock + 1
        result = RequestResult(waiting.id, PROGRAM, at, clock, snapshot.clone, fate, why, number)
        return result, [request.result_record(result, waiting)]

    return transact(ctx.store, decide)


def _perform(ctx: Context, hub: GitHubRepository, waiting: WriteRequest) -> tuple[int, str]:
    """Send one request; return the number of what it created, else 0, and what was left out.
    Raises GhpError."""
    context = TrackerContext(ctx.ws, hub, ctx.locks)
    tracker = GitHubTracker(ctx.ws, hub, ctx.locks, context=context)
    about = waiting.pull.issue if waiting.pull else waiting.issue
    change, why = allowed(waiting, context.held(about or 0), ctx.ws.settings.orchestrators)
    if why and change == NO_CHANGE:
        raise RefusedError(f"{why}.", hint="A person or an orchestrator may ask for it.")
    if waiting.kind == COMMENT:
        marker = waiting.marker or f"request {waiting.id}"
        tracker.comment(waiting.issue, waiting.body, waiting.by, marker=marker)
    elif waiting.kind == CHANGE:
        _change(tracker, waiting, change)
    elif waiting.kind == CREATE:
        existing = (issue for issue in tracker.known(closed=True) if issue.id == waiting.id)
        created = next(existing, None) or tracker.create(change, waiting.by, waiting.id)
        return int(created.number), why
    elif waiting.pull:
        return GitHubForge(ctx.ws, hub).open(waiting.pull, waiting.by).number, why
    return 0, why


def _change(tracker: GitHubTracker, waiting: WriteRequest, change: IssueChange) -> None:
    """Send a change; who is assigned is shown as far as GitHub can show it."""
    assigning = IssueChange(
        add_assignees=change.add_assignees, remove_assignees=change.remove_assignees
    )
    rest = change._replace(add_assignees=(), remove_assignees=())
    if rest != NO_CHANGE:
        tracker.change(waiting.issue, rest, waiting.by)
    if assigning != NO_CHANGE:
        tracker.set_holder(
            waiting.issue,
            waiting.by,
            add=assigning.add_assignees,
            remove=assigning.remove_assignees,
        )
