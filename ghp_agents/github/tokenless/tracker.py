"""GitHub's issues in a clone without a token: read as others published them, written by request."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.api.token import Token
from ghp_agents.github.tokenless import published, request
from ghp_agents.github.tokenless.place import MIRROR, Tracker
from ghp_agents.github.tokenless.published import Published
from ghp_agents.github.tokenless.request import CHANGE, COMMENT, CREATE, WriteRequest
from ghp_agents.github.tracker import mapping
from ghp_agents.github.tracker import requests as change_requests
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mirror import Mirror
from ghp_agents.github.tracker.tracker import GitHubTracker
from ghp_agents.issues.dependencies import refuse_circles
from ghp_agents.issues.issue import (
    NO_CHANGE,
    PROVISIONAL,
    Closing,
    Comment,
    Issue,
    IssueChange,
    applied,
    checked,
    checked_comment,
    checked_new,
    effective,
    find,
    provisional,
    resolved,
)
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text

LOGIN = "To ask GitHub from here, give this clone a token: `gh auth login`, or set GITHUB_TOKEN."

Issues = list[Issue]


class PublishedContext(TrackerContext):
    """The parts of a tracker whose mirror is what other clones published."""

    def __init__(
        self, ws: Workspace, locks: LockService, place: Tracker, read: Callable[[], Published]
    ) -> None:
        nobody = Access(place.host, place.repository, "", Token(""))
        super().__init__(ws, GitHubRepository(ws, nobody), locks)
        self._read = read
        vars(self)["viewer"] = ""  # there is no token, so there is no account

    def mirror(self) -> Mirror | None:
        """The published issues; sends no request."""
        issues = {number: published.issue for number, published in self._read().issues.items()}
        return Mirror(self.repository, issues)


class TokenlessTracker:
    """`ports.IssueTracker` on the state: what others published, and what waits for GitHub.

    A change counts here at once. It waits as a record, and a clone with a token sends it.
    """

    def __init__(
        self, ws: Workspace, store: StateStore, locks: LockService, place: Tracker
    ) -> None:
        self._ws, self._store, self.place = ws, store, place
        self._snapshot: Snapshot | None = None
        context = PublishedContext(ws, locks, place, self._published)
        self._signs = context.signs
        self._mirrored = GitHubTracker(ws, context.hub, locks, asks=False, context=context)

    @property
    def accepts_comment_commands(self) -> bool:
        """People give commands and answers on GitHub."""
        return True

    def known(self, *, closed: bool = False) -> Issues:
        """The same as `list`: nobody is asked."""
        return self.list(closed=closed)

    def list(self, *, closed: bool = False) -> Issues:
        """Open issues as they were published, with what waits; with `closed` also those that were
        closed lately. Oldest first."""
        return self._issues(self._store.snapshot(), closed=closed)

    def get(self, issue: str | int) -> Issue:
        """One issue with its latest comments. Raises UnknownError for one that was not
        published."""
        snapshot = self._store.snapshot()
        current = self._find(self._issues(snapshot, closed=True), issue)
        return current._replace(comments=tuple(self._comments(snapshot, current)))

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """Ask for a new issue. Its number is provisional until a clone with a token made it."""
        wanted = change_requests.taken_in(checked_new(change), self._signs)
        identity = random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Issue, Sequence[Record]]:
            issues = self._issues(snapshot, closed=True)
            new = effective(Issue("", IssueNumber(0), ""), resolved(issues, wanted))
            entry = self._request(snapshot, identity, CREATE, 0, by, change=new)
            return _blank(entry), [request.request_record(entry)]

        return transact(self._store, decide)

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Ask for a change; values that are already set stay. Raises UsageError for a cycle."""
        wanted = change_requests.taken_in(checked(change), self._signs)
        identity = random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Issue, Sequence[Record]]:
            issues = self._issues(snapshot, closed=True)
            current = self._numbered(self._find(issues, issue))
            new = effective(current, resolved(issues, wanted))
            if new == NO_CHANGE:
                return current, []
            refuse_circles(issues, current, new)
            entry = self._request(snapshot, identity, CHANGE, current.number, by, change=new)
            changed = applied(current, new, entry.at)
            comments = tuple(self._comments(snapshot, current))
            return changed._replace(comments=comments), [request.request_record(entry)]

        return transact(self._store, decide)

    def set_holder(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Ask to show the holder; the lock itself is elsewhere."""
        wanted = IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        return self.change(issue, wanted, by)

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Request a comment. With `marker`, return the one that has it, if this state knows it."""
        text, identity = checked_comment(body), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Comment, Sequence[Record]]:
            current = self._numbered(self._find(self._issues(snapshot, closed=True), issue))
            with_marker = (
                entry
                for entry in request.outgoing(snapshot).requests
                if marker and (entry.issue, entry.marker) == (current.number, marker)
            )
            existing = next(with_marker, None)
            if existing:
                return _comment(existing), []
            entry = self._request(
                snapshot, identity, COMMENT, current.number, by, body=text, marker=marker
            )
            return _comment(entry), [request.request_record(entry)]

        return transact(self._store, decide)

    def close_all(self, closings: Sequence[Closing], by: Actor) -> None:
        """Ask to comment on issues and to close them."""
        for closing in closings:
            self.comment(closing.issue, closing.body, by, marker=closing.marker)
            self.change(closing.issue, IssueChange(state="closed"), by)

    def showing(self) -> AbstractContextManager[None]:
        """Nobody is waited for here."""
        return nullcontext()

    def send(self) -> Sequence[str]:
        """Nothing is sent from here."""
        return ()

    def _request(
        self,
        snapshot: Snapshot,
        identity: str,
        kind: str,
        issue: int,
        by: Actor,
        *,
        body: str = "",
        marker: str = "",
        change: IssueChange = NO_CHANGE,
    ) -> WriteRequest:
        at = Timestamp(now_text(self._ws))
        return WriteRequest(
            identity, kind, snapshot.clock + 1, snapshot.clone, at, by, issue, body, marker, change
        )

    def _published(self) -> Published:
        snapshot = self._snapshot or self._store.snapshot()
        return published.read_published(snapshot.present(MIRROR))

    def _issues(self, snapshot: Snapshot, *, closed: bool) -> Issues:
        self._snapshot = snapshot
        issues = {issue.number: issue for issue in self._mirrored.known(closed=True)}
        ids = {issue.id for issue in issues.values()}
        for entry in request.outgoing(snapshot).waiting:
            current = issues.get(IssueNumber(entry.issue))
            if entry.kind == CREATE and entry.id not in ids:
                new = _blank(entry)
                issues[new.number] = new
            elif entry.kind == CHANGE and current:
                new_fields = effective(current, entry.change)
                issues[current.number] = applied(current, new_fields, entry.at)
        return [issue for issue in issues.values() if closed or issue.state != "closed"]

    def _comments(self, snapshot: Snapshot, issue: Issue) -> Iterable[Comment]:
        published_issue = self._published().issues.get(issue.number)
        yield from mapping.comments(published_issue.comments) if published_issue else ()
        for entry in request.outgoing(snapshot).waiting:
            if entry.kind == COMMENT and entry.issue == issue.number:
                yield _comment(entry)

    def _find(self, issues: Issues, reference: str | int) -> Issue:
        try:
            return find(issues, reference)
        except NotFoundError:
            raise UnknownError(
                f"This clone has no token for GitHub, and no other clone has published issue "
                f"{reference} of {self.place.place}. It knows the open issues as of "
                f"{self.place.at}.",
                hint=f"Run `ghp agent-sync` for newer ones. {LOGIN}",
            ) from None

    def _numbered(self, issue: Issue) -> Issue:
        """The issue, if GitHub has it. Raises UnknownError."""
        if issue.number >= PROVISIONAL:
            raise UnknownError(
                f"I-{issue.id[:6]} is not on GitHub yet: it waits for a clone with a token.",
                hint=f"Try again when that clone has synced. {LOGIN}",
            )
        return issue


def _blank(entry: WriteRequest) -> Issue:
    """A new issue that GitHub does not have yet."""
    blank = Issue(entry.id, provisional(entry.id), "", author=entry.by.name, created_at=entry.at)
    return applied(blank, effective(blank, entry.change), entry.at)


def _comment(entry: WriteRequest) -> Comment:
    return Comment(entry.id, entry.by.name, entry.at, entry.body, entry.by.is_person)
