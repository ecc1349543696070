"""Issues on GitHub, behind the tracker port.

Reads update a mirror, which answers while GitHub is unreachable. Writes first read the current
state and then verify the result, because other programs and people write there, too.
"""

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError, UnknownError
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.github import edited_comment
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.errors import (
    ForbiddenError,
    GoneError,
    HubError,
    MissingError,
    NoAnswerError,
    TokenError,
    UnreachableError,
)
from ghp_agents.github.api.outbox import Job
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.tracker import comments, jobs, mapping, refresh, write
from ghp_agents.github.tracker import requests as change_requests
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.mirror import Mirror
from ghp_agents.issues import outsider_text
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
from ghp_agents.ports import LockService
from ghp_agents.workspace import Workspace

EVERYBODY = "everybody"  # a value of the setting `takeFrom`
SHOWING_S = 3.0  # seconds that an agent waits at most until GitHub shows what it did
_HIGHEST = 2**31

Issues = list[Issue]


class GitHubTracker:
    """`ports.IssueTracker` on one repository of GitHub or a compatible server.

    With `asks=False` it answers from the mirror alone and refuses all else (UnknownError).
    """

    def __init__(
        self,
        ws: Workspace,
        hub: GitHubRepository,
        locks: LockService,
        *,
        asks: bool = True,
        context: TrackerContext | None = None,
    ) -> None:
        self._context = context or TrackerContext(ws, hub, locks)
        self._asks = asks

    @property
    def accepts_comment_commands(self) -> bool:
        """People give commands and answers there."""
        return True

    @property
    def is_mirrored(self) -> bool:
        """Whether there is a mirror for `known`."""
        return self._context.mirror() is not None

    def known(self, *, closed: bool = False) -> list[Issue]:
        """Like `list`, from the mirror alone; sends no request."""
        mirror = self._context.mirror()
        return self._issues(mirror, closed=closed) if mirror else []

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, with `closed` also closed ones, oldest first; one request if nothing
        changed.

        If GitHub is unreachable, as of the last read; raises UnknownError if there was none.
        """
        if not self._asks:
            return self.known(closed=closed)
        return self._issues(refresh.current(self._context), closed=closed)

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments; the mirrored one if GitHub is unreachable. Raises
        NotFoundError, UnknownError."""
        number = self._number(issue)
        try:
            entry = self._one(number)
        except NoAnswerError:
            mirror = self._context.mirror()
            if mirror is None or number not in mirror.issues:
                raise
            entry = mirror.issues[number]
        read = comments.of if self._asks else comments.remembered
        return self._shown(self._issue(entry)._replace(comments=read(self._context, entry)))

    def create(self, change: IssueChange, by: Actor, identity: str = "") -> Issue:
        """Create an issue with a hidden line at the end of its body. With `identity`, an issue
        that already has it is returned instead. Raises UnknownError if GitHub is unreachable."""
        wanted = change_requests.taken_in(checked_new(change), self._context.signs)
        self._must_ask("A new issue")
        relatives = self._related(wanted)
        new = effective(Issue("", IssueNumber(0), ""), resolved(self._all(relatives), wanted))
        return self._issue(write.create(self._context, new, by, _ids(relatives), identity))

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; values that are already set stay. Raises NotFoundError, UnknownError,
        UsageError for a dependency cycle, RefusedError if GitHub did not apply a change."""
        wanted = change_requests.taken_in(checked(change), self._context.signs)
        number = self._number(issue)
        entry = self._one(number)
        relatives = self._related(wanted)
        previous = self._issue(entry)
        new = effective(previous, resolved(self._all(relatives), wanted))
        if new != NO_CHANGE:
            refuse_circles([*self._all(relatives), previous], previous, new)
            entry = write.change(self._context, entry, new, _ids(relatives) | {number: entry.id})
        read = comments.kept(self._context, entry)
        return self._shown(self._issue(entry)._replace(comments=read))

    def set_holder(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show the holder; the lock itself is elsewhere. If it cannot be sent now, or is refused to
        this token, it waits in the outbox. What GitHub cannot or will not show is left out."""
        context = self._context
        wanted = self._showable(
            IssueChange(add_assignees=tuple(add), remove_assignees=tuple(remove))
        )
        try:
            with self.showing():
                self.send()
                if not context.hub.status().queued:
                    return self.change(issue, wanted, by)
        except NoAnswerError:
            pass
        except (TokenError, ForbiddenError, MissingError):  # this may change
            return self._queue(issue, wanted, by)
        except (HubError, RefusedError):
            return self._last(issue)
        last_seen = self._queue(issue, wanted, by)
        at = Timestamp(to_text(context.ws.clock.now()))
        return applied(last_seen, effective(last_seen, wanted), at)

    def _queue(self, issue: str | int, wanted: IssueChange, by: Actor) -> Issue:
        """Show it later; return the issue as last seen. Raises NotFoundError."""
        last_seen, now = self._last(issue), self._context.ws.clock.now()
        with contextlib.suppress(OSError):  # if it cannot be stored, it is shown another time
            self._context.hub.later(jobs.show(last_seen, wanted, by, now))
        return last_seen

    def close_all(self, closings: Sequence[Closing], by: Actor) -> None:
        """Close issues, one after another; what was merged, GitHub itself says there."""
        for closing in closings:
            self.change(closing.issue, IssueChange(state="closed"), by)

    def showing(self) -> AbstractContextManager[None]:
        """Inside this block, all requests take at most `SHOWING_S` together."""
        return self._context.hub.within(SHOWING_S)

    def send(self) -> Sequence[str]:
        """Send what waits in the outbox, in order; return what was sent, in words."""
        if not self._asks:
            return []
        return self._context.hub.flush(self._perform)  # free if nothing waits

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Post a comment. With `marker`, return an existing comment that has it."""
        text = github_marker.plain(checked_comment(body))
        entry = self._one(self._number(issue))
        return comments.say(self._context, entry, text, by, marker)

    def _number(self, issue: str | int) -> int:
        """The issue's number. Raises NotFoundError."""
        digits = str(issue).strip().removeprefix("#")
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            number = int(digits)
            if 0 < number < _HIGHEST:
                return number
        return int(find(self.list(closed=True), issue).number)

    def _must_ask(self, what: str) -> None:
        if not self._asks:
            raise UnreachableError(
                f"{what} is unknown here, and this command does not ask GitHub.",
                hint="Run `ghp agent-issues` to get the latest issues.",
            )

    def _one(self, number: int) -> MirroredIssue:
        self._must_ask(f"How #{number} is now")
        try:
            return refresh.one(self._context, number)
        except MissingError as error:
            try:
                find([], number)
            except NotFoundError as unknown:  # the error text of all trackers
                raise MissingError(str(unknown), hint=unknown.hint).of(404, error.message) from None
            raise
        except GoneError as error:
            raise NotFoundError(
                f"Issue #{number} no longer exists: {error}",
                hint="`ghp agent-issues --all` lists the existing issues.",
            ) from None

    def _last(self, issue: str | int) -> Issue:
        """An issue as last seen here; sends no request. Raises NotFoundError."""
        last_issues = self.known(closed=True)
        digits = str(issue).strip().removeprefix("#")
        recalled = self._context.hub.recall(f"issues/{digits}") if digits.isdigit() else None
        if recalled and all(entry.number != int(digits) for entry in last_issues):
            with contextlib.suppress(ValueError):  # unreadable counts as unknown
                return self._issue(mapping.kept(recalled.body))
        return find(last_issues, issue)

    def _issue(self, entry: MirroredIssue) -> Issue:
        mirror = self._context.mirror() or Mirror(
            "", viewer=self._context.viewer if self._asks else ""
        )
        others = mirror.issues if entry.believed else {}  # its id may be a copy
        issues = self._issues(mirror._replace(issues={**others, entry.number: entry}), closed=True)
        return next(issue for issue in issues if issue.number == entry.number)

    def _issues(self, mirror: Mirror, *, closed: bool) -> Issues:
        entries = [issue for issue in mirror.issues.values() if closed or issue.state != "closed"]
        names = self._context.names_of(mirror.viewer, entries)
        settings = self._context.ws.settings
        if settings.lockdown and not self._is_for_a_person:  # unknown counts as no writer
            entries = [
                issue._replace(by_writer=False) if issue.by_writer is None else issue
                for issue in entries
            ]
        issues = mapping.issues(entries, names, self._context.signs)
        if settings.take_from == EVERYBODY:
            issues = [issue._replace(offered=True) for issue in issues]
        return [self._shown(issue) for issue in issues]

    def _shown(self, issue: Issue) -> Issue:
        """The issue as this reader may see it."""
        hides = self._context.ws.settings.lockdown and not self._is_for_a_person
        return outsider_text.hidden(issue) if hides else issue

    @cached_property
    def _is_for_a_person(self) -> bool:
        try:
            return self._context.ws.actor().is_person
        except GhpError:
            return False

    def _all(self, mirror: Mirror | None) -> Issues:
        return self._issues(mirror, closed=True) if mirror else []

    def _related(self, change: IssueChange) -> Mirror | None:
        """All issues if the change refers to some; else None, without a request."""
        named = change.add_blockers or change.remove_blockers or change.parent or change.no_parent
        return refresh.current(self._context) if named else None

    def _showable(self, change: IssueChange) -> IssueChange:
        assignees = (*change.add_assignees, *change.remove_assignees)
        try:
            names = self._context.names_for(assignees)
        except UnknownError:
            return change
        return change_requests.showable(change, names, self._context.signs)

    def _still_current(self, number: int, change: IssueChange) -> IssueChange:
        """A queued change without what is out of date: the lock may have a new holder since. If
        this clone does not know the lock, the change stays as it was queued."""
        held = self._context.held(number)
        if held is None:
            return change
        return change._replace(
            add_assignees=tuple(name for name in change.add_assignees if name == held),
            remove_assignees=tuple(name for name in change.remove_assignees if name != held),
        )

    def _perform(self, job: Job) -> None:
        """Send one queued change. Raises GhpError."""
        queued, now = jobs.QueuedWrite(job), self._context.ws.clock.now()
        if queued.age(now) >= jobs.LONGEST:
            return
        try:
            self._send_queued(queued, now)
        except (HubError, NoAnswerError):
            raise
        except GhpError:
            return  # the issue is gone, or GitHub cannot show it

    def _send_queued(self, queued: jobs.QueuedWrite, now: float) -> None:
        number = queued.number
        match queued.kind:
            case jobs.SHOW:
                wanted = self._showable(self._still_current(number, queued.change))
                self.change(number, wanted, queued.by)
            case jobs.EXPLAIN:
                edited_comment.post_or_edit(self._context.hub, number, queued.text, queued.marker)
            case jobs.REACT:
                jobs.perform_reaction(self._context.hub, queued, now)
            case jobs.RELATE:
                created = write.find_created(self._context, queued.mark)
                if created is not None:
                    self.change(int(created["number"]), queued.change, queued.by)
                elif queued.age(now) < jobs.FOUND_WITHIN:  # it may be listed late
                    raise UnreachableError("The new issue is not listed yet.", hint="")


def _ids(mirror: Mirror | None) -> dict[int, int]:
    return {number: issue.id for number, issue in mirror.issues.items()} if mirror else {}
