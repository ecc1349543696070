"""Issues kept in the state in git: for repositories without GitHub, and offline."""

from collections.abc import Sequence

from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.issues import replay
from ghp_agents.issues.dependencies import refuse_circles
from ghp_agents.issues.issue import (
    NO_CHANGE,
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
from ghp_agents.issues.record import FOLDER, IssueEvent, described, entry, event_of, spelled
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.state.record import Record, highest
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class LocalTracker:
    """`ports.IssueTracker` on records. An issue's identity is its id; its number is a name that
    is given under a lease, or later, when the one place that gives numbers cannot be reached."""

    def __init__(self, ws: Workspace, store: StateStore, leaser: LockService) -> None:
        self._ws = ws
        self._store = store
        self._leaser = leaser

    @property
    def is_heard(self) -> bool:
        """People use commands here, not comments."""
        return False

    def known(self, *, closed: bool = False) -> list[Issue]:
        """The same: all of it is in this clone."""
        return self.list(closed=closed)

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, and closed ones if asked, oldest first."""
        issues = replay.fold(_log(self._store.snapshot()))
        return [issue for issue in issues if closed or issue.state != "closed"]

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""
        return find(replay.fold(_log(self._store.snapshot())), issue)

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """A new issue. What is wrong with it is found before a number is spent on it."""
        wanted = checked_new(change)
        snapshot = self._store.snapshot()
        resolved(replay.fold(_log(snapshot)), wanted)
        issue, record = random_hex(6), random_hex(6)
        number = self._number(snapshot, by, f"for I-{issue}")

        def decide(snapshot: Snapshot) -> tuple[Issue, list[Record]]:
            log = _log(snapshot)
            issues = replay.fold(log)
            blank = Issue(issue, IssueNumber(0), "")
            new = effective(blank, resolved(issues, wanted))
            said = self._said(snapshot, log, "create", issue, record, by)
            free = number if number not in log.numbers else None
            said = spelled(said, new, issues)._replace(number=free)
            made = _after(log, said)
            return made, [entry(said, "issue-new", made, made.title)]

        return transact(self._store, decide)

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; what is already so stays so, and says nothing. Raises NotFoundError,
        UsageError for a circle."""
        wanted, record = checked(change), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Issue, list[Record]]:
            log = _log(snapshot)
            issues = replay.fold(log)
            had = find(issues, issue)
            new = effective(had, resolved(issues, wanted))
            if new == NO_CHANGE:
                return had, []
            refuse_circles(issues, had, new)
            said = self._said(snapshot, log, "change", had.id, record, by)
            said = spelled(said, new, issues)
            changed = _after(log, said)
            return changed, [entry(said, event_of(new), changed, described(new))]

        return transact(self._store, decide)

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Say something. With `marker`, a comment that has it is answered instead of a second."""
        text, record = checked_comment(body), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Comment, list[Record]]:
            log = _log(snapshot)
            had = find(replay.fold(log), issue)
            there = _marked(log, had, marker) if marker else None
            if there:
                return there, []
            said = self._said(snapshot, log, "comment", had.id, record, by)
            said = said._replace(body=text, marker=marker)
            comment = _after(log, said).comments[-1]
            return comment, [entry(said, "issue-comment", had, text.partition("<!--")[0])]

        return transact(self._store, decide)

    def show(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show who has it: nothing stands between us and the place where it is shown."""
        change = IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        return self.change(issue, change, by)

    def send(self) -> Sequence[str]:
        """Nothing ever waits."""
        return ()

    def _number(self, known: Snapshot, by: Actor, reason: str) -> IssueNumber | None:
        """A number, or None where none can be had now, whyever: the issue is not lost for that."""
        try:
            return next_number(self._leaser, by.name, given_numbers(known), reason)
        except GhpError:
            return None

    def _said(
        self, snapshot: Snapshot, log: IssueEvents, kind: str, issue: str, record: str, by: Actor
    ) -> IssueEvent:
        clock = highest(snapshot.clock, log.clock) + 1
        at = Timestamp(now_text(self._ws))
        return IssueEvent(issue, record, kind, clock, snapshot.clone, at, by)


def _log(snapshot: Snapshot) -> IssueEvents:
    return replay.read_events(snapshot.files(FOLDER))


def _after(log: IssueEvents, said: IssueEvent) -> Issue:
    """The issue that a record is about, with the record."""
    return next(issue for issue in replay.fold(log.with_one(said)) if issue.id == said.issue)


def _marked(log: IssueEvents, issue: Issue, marker: str) -> Comment | None:
    ids = {said.id for said in log.said if said.issue == issue.id and said.marker == marker}
    return next((comment for comment in issue.comments if comment.id in ids), None)
