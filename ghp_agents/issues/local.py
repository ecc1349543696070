"""Issues stored in the state in git: for repositories without GitHub, and for offline work."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.issues import replay
from ghp_agents.issues.dependencies import refuse_circles
from ghp_agents.issues.issue import (
    NO_CHANGE,
    Closing,
    Comment,
    Issue,
    IssueChange,
    checked,
    checked_comment,
    checked_new,
    effective,
    find,
    resolved,
)
from ghp_agents.issues.numbers import given_numbers, next_number
from ghp_agents.issues.open_issues import list_open, read_all, read_events
from ghp_agents.issues.record import IssueEvent, described, entry, event_of, spelled
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.state.record import Record, highest
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text

Issues = list[Issue]


class LocalTracker:
    """`ports.IssueTracker` on records. An issue's identity is its id. Its number is allocated
    under a lock, or by a later sync if the allocator cannot be reached.
    """

    def __init__(self, ws: Workspace, store: StateStore, locks: LockService) -> None:
        self._ws = ws
        self._store = store
        self._locks = locks

    @property
    def accepts_comment_commands(self) -> bool:
        """False: people use commands here, not comments."""
        return False

    def known(self, *, closed: bool = False) -> list[Issue]:
        """The same as `list`: all issues are in this clone."""
        return self.list(closed=closed)

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, with `closed` also closed ones, oldest first."""
        snapshot = self._store.snapshot()
        return [*(read_all(snapshot) if closed else list_open(snapshot))]

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""
        snapshot = self._store.snapshot()
        name = str(issue).removeprefix("#")
        if name.isdecimal():  # most issues that people name are open
            for candidate in list_open(snapshot):
                if name in map(str, candidate.numbers):
                    return candidate
        return find(read_all(snapshot), issue)

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """Create an issue. It is validated before a number is allocated."""
        wanted = checked_new(change)
        snapshot = self._store.snapshot()
        resolved(read_all(snapshot), wanted)
        issue, record = random_hex(6), random_hex(6)
        number = self._number(snapshot, by, f"for I-{issue}")

        def decide(snapshot: Snapshot) -> tuple[Issue, list[Record]]:
            log, issues = read_events(snapshot), read_all(snapshot)
            blank = Issue(issue, IssueNumber(0), "")
            new = effective(blank, resolved(issues, wanted))
            event = self._event(snapshot, log, "create", issue, record, by)
            free = number if number not in log.numbers else None
            event = spelled(event, new, issues)._replace(number=free)
            created = _after(log, event)
            return created, [entry(event, "issue-new", created, created.title)]

        return transact(self._store, decide)

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; without an effect nothing is recorded. Raises NotFoundError, and
        UsageError for a cycle."""
        wanted, record = checked(change), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Issue, list[Record]]:
            log, issues = read_events(snapshot), read_all(snapshot)
            current = find(issues, issue)
            new = effective(current, resolved(issues, wanted))
            if new == NO_CHANGE:
                return current, []
            refuse_circles(issues, current, new)
            event = self._event(snapshot, log, "change", current.id, record, by)
            event = spelled(event, new, issues)
            changed = _after(log, event)
            return changed, [entry(event, event_of(new), changed, described(new))]

        return transact(self._store, decide)

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Add a comment. With `marker`, return the comment that has this marker, if any."""
        text, record = checked_comment(body), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Comment, list[Record]]:
            log, current = read_events(snapshot), find(read_all(snapshot), issue)
            existing = _marked(log, current, marker) if marker else None
            if existing:
                return existing, []
            event = self._event(snapshot, log, "comment", current.id, record, by)
            event = event._replace(body=text, marker=marker)
            comment = _after(log, event).comments[-1]
            return comment, [entry(event, "issue-comment", current, text.partition("<!--")[0])]

        return transact(self._store, decide)

    def set_holder(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show the holder as the assignee: here, a plain change."""
        change = IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        return self.change(issue, change, by)

    def close_all(self, closings: Sequence[Closing], by: Actor) -> None:
        """Comment on issues and close them, by one commit."""
        ids = [(random_hex(6), random_hex(6)) for _ in closings]

        def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
            log, issues = read_events(snapshot), read_all(snapshot)
            events: list[tuple[IssueEvent, str, str]] = []
            for closing, (first, second) in zip(closings, ids, strict=True):
                current = find(issues, closing.issue)
                if _marked(log, current, closing.marker) is None:
                    event = self._event(snapshot, log, "comment", current.id, first, by)
                    text = checked_comment(closing.body)
                    event = event._replace(body=text, marker=closing.marker)
                    events.append((event, "issue-comment", text.partition("<!--")[0]))
                    log = log.with_one(event)
                new = effective(current, IssueChange(state="closed"))
                if new != NO_CHANGE:
                    event = self._event(snapshot, log, "change", current.id, second, by)
                    event = spelled(event, new, issues)
                    events.append((event, event_of(new), described(new)))
                    log = log.with_one(event)
            after = {issue.id: issue for issue in replay.fold(log)}
            return None, [entry(x, kind, after[x.issue], words) for x, kind, words in events]

        transact(self._store, decide)

    def showing(self) -> AbstractContextManager[None]:
        """Nobody is waited for here."""
        return nullcontext()

    def send(self) -> Sequence[str]:
        """Nothing to send: no change is ever queued here."""
        return ()

    def _number(self, snapshot: Snapshot, by: Actor, reason: str) -> IssueNumber | None:
        """A new number, or None if it cannot be allocated now: the issue is created anyway."""
        try:
            return next_number(self._locks, by.name, given_numbers(snapshot), reason)
        except GhpError:
            return None

    def _event(
        self, snapshot: Snapshot, log: IssueEvents, kind: str, issue: str, record: str, by: Actor
    ) -> IssueEvent:
        clock = highest(snapshot.clock, log.clock) + 1
        at = Timestamp(now_text(self._ws))
        return IssueEvent(issue, record, kind, clock, snapshot.clone, at, by)


def _after(log: IssueEvents, event: IssueEvent) -> Issue:
    """The issue of an event, after the event."""
    return replay.fold(log.with_one(event), event.issue)[0]


def _marked(log: IssueEvents, issue: Issue, marker: str) -> Comment | None:
    ids = {event.id for event in log.events if (event.issue, event.marker) == (issue.id, marker)}
    return next((comment for comment in issue.comments if comment.id in ids), None)
