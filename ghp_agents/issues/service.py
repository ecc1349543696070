"""Issues: choose, make and change them. Saying the same thing twice changes nothing."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp, digest
from ghp_agents.issues import comment_commands, dependencies, replay
from ghp_agents.issues.issue import (
    NO_CHANGE,
    Comment,
    Issue,
    IssueChange,
    assignee,
    checked_comment,
    checked_new,
    find,
)
from ghp_agents.issues.numbers import given_numbers, next_number
from ghp_agents.issues.record import FOLDER, IssueEvent, entry
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.state.record import Record, highest
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text

ME = "@me"


class IssueResult(NamedTuple):
    """An issue after a command, and whether the command changed it."""

    issue: Issue
    changed: bool
    comment: Comment | None = None


class IssueListing(NamedTuple):
    """Chosen issues."""

    issues: list[Issue]
    open: dict[IssueNumber, Issue]  # all that are open, chosen or not
    circle: list[Issue]  # open ones that wait for each other, where somebody looks for work
    passed_over: int = 0  # issues that are not offered to agents, and would be ready else


class View(NamedTuple):
    """An issue among the others: what it waits for and belongs to, and the other way round.

    Related issues that are closed are there as numbers only.
    """

    issue: Issue
    open: dict[IssueNumber, Issue]

    @property
    def blocks(self) -> list[Issue]:
        """Open issues that wait for this one."""
        return [each for each in self.open.values() if self.issue.number in each.blocked_by]

    @property
    def parts(self) -> list[Issue]:
        """Open issues that are part of this one."""
        return [each for each in self.open.values() if each.parent == self.issue.number]


# -------------------------------------------------------------------------------- looking


def select(
    ws: Workspace,
    tracker: IssueTracker,
    *,
    mine: bool = False,
    ready: bool = False,
    states: Sequence[str] = ("open",),
    labels: Sequence[str] = (),
    claims: Mapping[int, Lock] = dependencies.NO_CLAIMS,
    commanded: Container[int] = (),
) -> IssueListing:
    """The issues that fit all that is asked. Ready ones of mine are those that nothing blocks.

    `claims` are the claims that are known, by the issues' numbers; `commanded` are the issues that
    a person gave to agents by a comment.
    """
    me = ws.actor().name if mine else None
    known = tracker.list(closed="closed" in states)
    label = ws.settings.needs_human_label
    found = dependencies.ready(known, me, claims, label, commanded) if ready else known
    offered = [each._replace(offered=True) for each in known]
    everything = dependencies.ready(offered, me, claims, label) if ready else found
    chosen = [
        issue
        for issue in found
        if ("closed" if issue.state == "closed" else "open") in states
        and (me is None or me in issue.assignees)
        and all(label in issue.labels for label in labels)
    ]
    waited_for = {issue.number: issue for issue in known if issue.state != "closed"}
    circle = dependencies.deadlock(known) if ready else []
    return IssueListing(chosen, waited_for, circle, len(everything) - len(found))


def ready(
    ws: Workspace,
    issues: Sequence[Issue],
    claims: Mapping[int, Lock] = dependencies.NO_CLAIMS,
    commanded: Container[int] = (),
) -> list[Issue]:
    """What can be taken of `issues`, which come oldest first and hold all that are open."""
    label = ws.settings.needs_human_label
    return dependencies.ready(issues, claims=claims, needs_human=label, commanded=commanded)


def commanded(store: StateStore) -> set[int]:
    """The issues that a person gave to agents by a comment."""
    records = store.snapshot().files(comment_commands.FOLDER)
    return comment_commands.given(comment_commands.read_commands(records)[0]) if records else set()


def view(tracker: IssueTracker, reference: str) -> View:
    """One issue among the open ones. Raises NotFoundError."""
    issue = tracker.get(reference)
    return View(issue, {each.number: each for each in tracker.list()})


# ------------------------------------------------------------------------------- changing


def new(
    ws: Workspace,
    tracker: IssueTracker,
    fields: IssueChange,
    *,
    blocked_by: Sequence[str] = (),
    parent: str | None = None,
    again: bool = False,
) -> IssueResult:
    """Make an issue, unless this one has an open one of the same title and body: a command that
    is repeated must not make a second. With `again` it does."""
    by = ws.actor()
    wanted = checked_new(
        fields._replace(
            add_assignees=_people(ws, fields.add_assignees),
            add_blockers=_numbers(tracker, blocked_by),
            parent=tracker.get(parent).number if parent else None,
        )
    )
    same = None if again else _same(tracker, wanted, by)
    return (
        IssueResult(same, changed=False)
        if same
        else IssueResult(tracker.create(wanted, by), changed=True)
    )


def _same(tracker: IssueTracker, wanted: IssueChange, by: Actor) -> Issue | None:
    body = wanted.body or ""
    return next(
        (
            issue
            for issue in tracker.list()
            if (issue.title, issue.body, issue.author) == (wanted.title, body, by.name)
        ),
        None,
    )


def edit(
    ws: Workspace,
    tracker: IssueTracker,
    reference: str,
    change: IssueChange,
    *,
    parent: str | None = None,
) -> IssueResult:
    """Change fields. Raises UsageError when there is nothing to change."""
    wanted = change._replace(parent=tracker.get(parent).number) if parent else change
    if wanted == NO_CHANGE:
        raise UsageError(
            "Nothing is said that should change.",
            hint="Give at least one of --title, --body, --priority, --label, --remove-label, "
            "--parent, --no-parent.",
        )
    return _change(ws, tracker, reference, wanted)


def close(ws: Workspace, tracker: IssueTracker, reference: str, message: str = "") -> IssueResult:
    """Close an issue; the message is a comment, said before it closes."""
    said = comment(ws, tracker, reference, message).comment if message else None
    return _change(ws, tracker, reference, IssueChange(state="closed"))._replace(comment=said)


def reopen(ws: Workspace, tracker: IssueTracker, reference: str) -> IssueResult:
    """Open an issue again."""
    return _change(ws, tracker, reference, IssueChange(state="open"))


def assign(
    ws: Workspace,
    tracker: IssueTracker,
    reference: str,
    names: Sequence[str],
    *,
    remove: bool = False,
) -> IssueResult:
    """Give agents and people authority over an issue, or take it from them."""
    people = tuple(ws.actor().name if name == ME else name for name in names)
    change = (
        IssueChange(remove_assignees=people)
        if remove
        else IssueChange(add_assignees=tuple(assignee(name) for name in people))
    )
    return _change(ws, tracker, reference, change)


def block(
    ws: Workspace,
    tracker: IssueTracker,
    reference: str,
    by: Sequence[str],
    *,
    remove: bool = False,
) -> IssueResult:
    """Let an issue wait for others, or no longer. Raises UsageError for a circle."""
    numbers = _numbers(tracker, by)
    change = IssueChange(remove_blockers=numbers) if remove else IssueChange(add_blockers=numbers)
    return _change(ws, tracker, reference, change)


def comment(ws: Workspace, tracker: IssueTracker, reference: str, body: str) -> IssueResult:
    """Say something; what the last comment says already, by the same one, is not said again."""
    by, text = ws.actor(), checked_comment(body)
    issue = tracker.get(reference)
    last = issue.comments[-1] if issue.comments else None
    if last and (last.body, last.author, last.by_person) == (text, by.name, by.is_person):
        return IssueResult(issue, changed=False, comment=last)
    said = tracker.comment(reference, text, by)
    return IssueResult(issue, changed=True, comment=said)


def _change(
    ws: Workspace, tracker: IssueTracker, reference: str, change: IssueChange
) -> IssueResult:
    before = tracker.get(reference)
    after = tracker.change(reference, change, ws.actor())
    return IssueResult(after, changed=after._replace(updated_at=before.updated_at) != before)


def _people(ws: Workspace, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(ws.actor().name if name == ME else assignee(name) for name in names)


def _numbers(tracker: IssueTracker, references: Iterable[str]) -> tuple[IssueNumber, ...]:
    return tuple(tracker.get(reference).number for reference in references)


# -------------------------------------------------------------------------------- numbers


def name_provisional(ws: Workspace, store: StateStore, leaser: LockService) -> list[IssueNumber]:
    """Give numbers to this clone's issues that were made where none could be had, oldest first.

    Answers the numbers that were given; stops where none can be had now either. Two processes at
    once, or one that dies half-way, leave a gap at most. To be called between fetching and
    pushing, when what others were given is known.
    """
    snapshot = store.snapshot()
    log, used = _log(snapshot), given_numbers(snapshot)
    given: list[IssueNumber] = []
    for creation in replay.unnumbered(log):
        if not _is_ours(snapshot, creation):
            continue
        reason = f"for I-{creation.issue}"
        try:
            number = next_number(leaser, creation.by.name, used, reason)
        except GhpError:
            break
        if _name(ws, store, creation, number):
            given.append(number)
    return given


def _is_ours(snapshot: Snapshot, creation: IssueEvent) -> bool:
    """Whether it is for this clone to name: its own, or left by one that is not there any more."""
    known = {tip.clone for tip in snapshot.tips()}
    return creation.clone == snapshot.clone or creation.clone not in known


def _name(ws: Workspace, store: StateStore, creation: IssueEvent, number: IssueNumber) -> bool:
    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        log = _log(snapshot)
        lacking = {each.issue for each in replay.unnumbered(log)}
        if creation.issue not in lacking or number in log.numbers:
            return False, []
        said = IssueEvent(
            issue=creation.issue,
            id=digest(creation.issue, str(number)),
            kind="number",
            clock=highest(snapshot.clock, log.clock) + 1,
            clone=snapshot.clone,
            at=Timestamp(now_text(ws)),
            by=creation.by,
            number=number,
        )
        issue = find(replay.fold(log.with_one(said)), f"I-{creation.issue}")
        return True, [entry(said, "issue-number", issue, f"was I-{issue.id}: {issue.title}")]

    return transact(store, decide)


def _log(snapshot: Snapshot) -> IssueEvents:
    return replay.read_events(snapshot.files(FOLDER))
