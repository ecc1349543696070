"""Issues in memory: a tracker for tests, with the same contract as the others."""

import secrets
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.issues.dependencies import refuse_circles
from ghp_agents.issues.issue import (
    NO_CHANGE,
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
    resolved,
)
from ghp_agents.ports import Clock


class MemoryTracker:
    """Issues that end with the process; numbers start at 1."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issues: dict[str, Issue] = {}  # by id, oldest first
        self._marked: dict[tuple[str, str], Comment] = {}
        self._lock = threading.Lock()

    @property
    def accepts_comment_commands(self) -> bool:
        """False: people use commands here, not comments."""
        return False

    def known(self, *, closed: bool = False) -> list[Issue]:
        """The same as `list`: there is no remote to ask."""
        return self.list(closed=closed)

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, with `closed` also closed ones, oldest first."""
        with self._lock:
            return [x for x in self._issues.values() if closed or x.state != "closed"]

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""
        with self._lock:
            return find(self._issues.values(), issue)

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """Create an issue."""
        with self._lock:
            wanted = resolved(list(self._issues.values()), checked_new(change))
            number = IssueNumber(len(self._issues) + 1)
            at = self._now()
            blank = Issue(secrets.token_hex(6), number, "", author=by.name, created_at=at)
            created = applied(blank, effective(blank, wanted), at)
            self._issues[created.id] = created
            return created

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields. Raises NotFoundError."""
        with self._lock:
            issues = list(self._issues.values())
            current = find(issues, issue)
            new = effective(current, resolved(issues, checked(change)))
            if new == NO_CHANGE:
                return current
            refuse_circles(issues, current, new)
            self._issues[current.id] = applied(current, new, self._now())
            return self._issues[current.id]

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Add a comment. With `marker`, return the comment that has this marker, if any."""
        text = checked_comment(body)
        with self._lock:
            current = find(self._issues.values(), issue)
            if marker and (current.id, marker) in self._marked:
                return self._marked[current.id, marker]
            at = self._now()
            comment = Comment(secrets.token_hex(6), by.name, at, text, by.is_person)
            self._issues[current.id] = current._replace(
                comments=(*current.comments, comment), updated_at=at
            )
            self._marked[current.id, marker] = comment
            return comment

    def set_holder(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show the holder as the assignee: here, a plain change."""
        change = IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        return self.change(issue, change, by)

    def close_all(self, closings: Sequence[Closing], by: Actor) -> None:
        """Comment on issues and close them, one after another."""
        for closing in closings:
            self.comment(closing.issue, closing.body, by, marker=closing.marker)
            self.change(closing.issue, IssueChange(state="closed"), by)

    def showing(self) -> AbstractContextManager[None]:
        """Nobody is waited for here."""
        return nullcontext()

    def send(self) -> Sequence[str]:
        """Nothing to send: no change is ever queued here."""
        return ()

    def _now(self) -> Timestamp:
        return Timestamp(to_text(self._clock.now()))
