"""Issues in memory: the twin of the other trackers, for tests."""

import secrets
import threading
from collections.abc import Sequence

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.issues.dependencies import refuse_circles
from ghp_agents.issues.issue import (
    NO_CHANGE,
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
    """Issues that end with the process; the first is number 1."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issues: dict[str, Issue] = {}  # by id, oldest first
        self._marked: dict[tuple[str, str], Comment] = {}
        self._lock = threading.Lock()

    @property
    def is_heard(self) -> bool:
        """People use commands here, not comments."""
        return False

    def known(self, *, closed: bool = False) -> list[Issue]:
        """The same: there is nobody to ask."""
        return self.list(closed=closed)

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, and closed ones if asked, oldest first."""
        with self._lock:
            return [x for x in self._issues.values() if closed or x.state != "closed"]

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""
        with self._lock:
            return find(self._issues.values(), issue)

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """A new issue."""
        with self._lock:
            wanted = resolved(list(self._issues.values()), checked_new(change))
            number = IssueNumber(len(self._issues) + 1)
            at = self._now()
            blank = Issue(secrets.token_hex(6), number, "", author=by.name, created_at=at)
            made = applied(blank, effective(blank, wanted), at)
            self._issues[made.id] = made
            return made

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; what is already so stays so. Raises NotFoundError."""
        with self._lock:
            known = list(self._issues.values())
            had = find(known, issue)
            new = effective(had, resolved(known, checked(change)))
            if new == NO_CHANGE:
                return had
            refuse_circles(known, had, new)
            self._issues[had.id] = applied(had, new, self._now())
            return self._issues[had.id]

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Say something. With `marker`, a comment that has it is answered instead of a second."""
        text = checked_comment(body)
        with self._lock:
            had = find(self._issues.values(), issue)
            if marker and (had.id, marker) in self._marked:
                return self._marked[had.id, marker]
            at = self._now()
            said = Comment(secrets.token_hex(6), by.name, at, text, by.is_person)
            self._issues[had.id] = had._replace(comments=(*had.comments, said), updated_at=at)
            self._marked[had.id, marker] = said
            return said

    def show(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show who has it: nothing stands between us and the place where it is shown."""
        change = IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        return self.change(issue, change, by)

    def send(self) -> Sequence[str]:
        """Nothing ever waits."""
        return ()

    def _now(self) -> Timestamp:
        return Timestamp(to_text(self._clock.now()))
