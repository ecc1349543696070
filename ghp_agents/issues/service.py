"""List, create and change issues. Repeating a command changes nothing."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp, digest
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import comment_commands, dependencies, epics, replay
from ghp_agents.issues.issue import (
    NO_CHANGE,
    Comment,
    Issue,
    IssueChange,
    assignee,
    checked_comment,
    checked_new,
    effective,
    find,
    short,
)
from ghp_agents.issues.numbers import given_numbers, next_number
from ghp_agents.issues.open_issues import read_events
from ghp_agents.issues.order import precedence
from ghp_agents.issues.record import IssueEvent, entry
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, IssueTracker, Snapshot, StateStore
from ghp_agents.settings import rights
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
    """The issues that match a query."""

    issues: list[Issue]
    open: dict[IssueNumber, Issue]  # all open issues, matching or not
    circle: list[Issue]  # a cycle of open issues; only for a query of ready issues
    passed_over: int = 0  # number of issues that would be ready, but are not offered to agents


class View(NamedTuple):
    """An issue and its relations to open issues; closed ones appear as numbers only."""

    issue: Issue
    open: dict[IssueNumber, Issue]
    parts: list[Issue]  # also the closed ones

    @property
    def blocks(self) -> list[Issue]:
        """Open issues that wait for this one."""
        return [other for other in self.open.values() if self.issue.number in other.blocked_by]


def select(
    ctx: Context,
    *,
    mine: bool = False,
    ready: bool = False,
    states: Sequence[str] = ("open",),
    labels: Sequence[str] = (),
    claims: Mapping[int, Lock] = dependencies.NO_CLAIMS,
    commanded: Container[int] = (),
) -> IssueListing:
    """The issues that match all conditions, in the order in which they are to be done. With `mine`,
    a ready issue is one that is not blocked.

    `claims` are the known claims by issue number. `commanded` are the issues that a person
    assigned to agents by a comment.
    """
    me = ctx.ws.actor().name if mine else None
    issues = ctx.tracker.list(closed="closed" in states)
    label = ctx.ws.settings.needs_human_label
    candidates = dependencies.ready(issues, me, claims, label, commanded) if ready else issues
    offered = [issue._replace(offered=True) for issue in issues]
    everything = dependencies.ready(offered, me, claims, label) if ready else candidates
    chosen = [
        issue
        for issue in candidates
        if ("closed" if issue.state == "closed" else "open") in states
        and (me is None or me in issue.assignees)
        and all(label in issue.labels for label in labels)
    ]
    chosen = _in_order(ctx.ws, issues, chosen, claims, commanded)
    waited_for = {issue.number: issue for issue in issues if issue.state != "closed"}
    circle = dependencies.deadlock(issues) if ready else []
    return IssueListing(chosen, waited_for, circle, len(everything) - len(candidates))


def _in_order(
    ws: Workspace,
    issues: Sequence[Issue],
    chosen: Sequence[Issue],
    claims: Mapping[int, Lock],
    commanded: Container[int],
) -> list[Issue]:
    """First what the actor has or can claim, as the choice of work orders it; then what nobody can
    claim now; closed ones last."""
    name, label = ws.reader(), ws.settings.needs_human_label
    ready = {
        issue.id
        for of in (None, name)
        for issue in dependencies.ready(issues, of, claims, label, commanded)
    }

    def place(issue: Issue) -> tuple[int, *tuple[int | str, ...]]:
        if issue.state == "closed":
            return (2,)
        mine = any(claims[n].holder == name for n in issue.numbers if n in claims)
        can_begin = issue.id in ready or (mine and not dependencies.open_blockers(issue, issues))
        return (0 if can_begin else 1, *precedence(issue, name, is_mine=mine))

    return sorted(chosen, key=place)


def ready(
    ws: Workspace,
    issues: Sequence[Issue],
    claims: Mapping[int, Lock] = dependencies.NO_CLAIMS,
    commanded: Container[int] = (),
) -> list[Issue]:
    """The issues that can be claimed, by priority, due date and age. `issues` come oldest first and
    include all open ones."""
    label = ws.settings.needs_human_label
    free = dependencies.ready(issues, claims=claims, needs_human=label, commanded=commanded)
    return sorted(free, key=lambda issue: precedence(issue, None))


def commanded(store: StateStore) -> set[int]:
    """The issues that a person assigned to agents by a comment."""
    return comment_commands.given(comment_commands.commands_in(store.snapshot()))


def view(tracker: IssueTracker, reference: str) -> View:
    """One issue with the open ones and its parts. Raises NotFoundError."""
    issue = tracker.get(reference)
    issues = tracker.list(closed=True)
    opened = {other.number: other for other in issues if other.state != "closed"}
    return View(issue, opened, epics.own_parts(issue, issues))


def new(
    ctx: Context,
    fields: IssueChange,
    *,
    blocked_by: Sequence[str] = (),
    parent: str | None = None,
    again: bool = False,
) -> IssueResult:
    """Create an issue, unless the same author has an open one with the same title and body: a
    repeated command must not create a second, and sets relations and metadata of the first. With
    `again` it creates one."""
    by = ctx.ws.actor()
    wanted = checked_new(
        fields._replace(
            add_assignees=_people(ctx.ws, fields.add_assignees),
            add_blockers=_numbers(ctx.tracker, blocked_by),
            parent=ctx.tracker.get(parent).number if parent else None,
        )
    )
    same = None if again else _same(ctx.tracker, wanted, by)
    if same is None:
        return IssueResult(ctx.tracker.create(wanted, by), changed=True)
    relations = IssueChange(
        add_blockers=wanted.add_blockers, parent=wanted.parent, metadata=wanted.metadata
    )
    if effective(same, relations) != NO_CHANGE:
        same = ctx.tracker.change(same.number, relations, by)
    return IssueResult(same, changed=False)


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
    ctx: Context, reference: str, change: IssueChange, *, parent: str | None = None
) -> IssueResult:
    """Change fields. Raises UsageError when there is nothing to change."""
    wanted = change._replace(parent=ctx.tracker.get(parent).number) if parent else change
    if wanted == NO_CHANGE:
        raise UsageError(
            "No change was given.",
            hint="Use at least one of --title, --body, --priority, --label, --remove-label, "
            "--parent, --no-parent.",
        )
    return _change(ctx, reference, wanted)


def close(ctx: Context, reference: str, message: str = "") -> IssueResult:
    """Close an issue. The message becomes a comment before it closes."""
    added = comment(ctx, reference, message).comment if message else None
    return _change(ctx, reference, IssueChange(state="closed"))._replace(comment=added)


def reopen(ctx: Context, reference: str) -> IssueResult:
    """Reopen an issue."""
    return _change(ctx, reference, IssueChange(state="open"))


def assign(
    ctx: Context, reference: str, names: Sequence[str], *, remove: bool = False
) -> IssueResult:
    """Assign agents and people to an issue, or unassign them. Raises RefusedError for an agent that
    gives another agent's issue a second one, or takes it from that agent."""
    people = tuple(ctx.ws.actor().name if name == ME else name for name in names)
    _refuse_second(ctx, reference, people, remove=remove)
    change = (
        IssueChange(remove_assignees=people)
        if remove
        else IssueChange(add_assignees=tuple(assignee(name) for name in people))
    )
    return _change(ctx, reference, change)


def _refuse_second(ctx: Context, reference: str, people: Sequence[str], *, remove: bool) -> None:
    """An issue has one agent. People may stand beside it, and people and orchestrators decide."""
    by, agents = ctx.ws.actor(), ctx.store.snapshot().agents()
    if rights.may_assign(by, ctx.ws.settings.orchestrators):
        return
    issue = ctx.tracker.get(reference)
    claim = ctx.world.claims.get(issue.number)
    held = [claim.holder] if claim and not claim.is_person else []
    owners = [x for x in (*held, *issue.assignees) if x and x in agents]
    new = [x for x in people if x in agents and not remove and x not in issue.assignees]
    gone = [name for name in people if name in owners and remove and name != by.name]
    if gone or (owners and any(name != owners[0] for name in new)):
        raise RefusedError(
            f"{short(issue)} has an agent already: {named(owners[0])}.",
            hint="Find other work: `ghp agent-claim --next`. Its agent can hand it over: `ghp "
            "agent-handoff --to AGENT`. A person or an orchestrator can assign it.",
        )


def block(ctx: Context, reference: str, by: Sequence[str], *, remove: bool = False) -> IssueResult:
    """Add or remove blockers of an issue. Raises UsageError for a cycle."""
    numbers = _numbers(ctx.tracker, by)
    change = IssueChange(remove_blockers=numbers) if remove else IssueChange(add_blockers=numbers)
    return _change(ctx, reference, change)


def comment(ctx: Context, reference: str, body: str) -> IssueResult:
    """Add a comment, unless the last comment has the same author and text."""
    by, text = ctx.ws.actor(), checked_comment(body)
    issue = ctx.tracker.get(reference)
    last = issue.comments[-1] if issue.comments else None
    if last and (last.body, last.author, last.by_person) == (text, by.name, by.is_person):
        return IssueResult(issue, changed=False, comment=last)
    return IssueResult(issue, changed=True, comment=ctx.tracker.comment(reference, text, by))


def _change(ctx: Context, reference: str, change: IssueChange) -> IssueResult:
    before = ctx.tracker.get(reference)
    after = ctx.tracker.change(reference, change, ctx.ws.actor())
    return IssueResult(after, changed=after._replace(updated_at=before.updated_at) != before)


def _people(ws: Workspace, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(ws.actor().name if name == ME else assignee(name) for name in names)


def _numbers(tracker: IssueTracker, references: Iterable[str]) -> tuple[IssueNumber, ...]:
    return tuple(tracker.get(reference).number for reference in references)


def name_local(ctx: Context) -> list[IssueNumber]:
    """The same in a sync; GitHub numbers its issues itself."""
    return [] if ctx.tracker.accepts_comment_commands else name_provisional(ctx)


def name_provisional(ctx: Context) -> list[IssueNumber]:
    """Allocate numbers for this clone's provisional issues, oldest first; return the numbers.

    Stops when no number can be allocated. Two processes at once, or one that dies half-way, leave
    a gap at most. Call it between fetch and push, when the numbers of other clones are known.
    """
    snapshot = ctx.store.snapshot()
    log, used = read_events(snapshot), given_numbers(snapshot)
    given: list[IssueNumber] = []
    for creation in replay.unnumbered(log):
        if not _is_ours(snapshot, creation):
            continue
        reason = f"for I-{creation.issue}"
        try:
            number = next_number(ctx.locks, creation.by.name, used, reason)
        except GhpError:
            break
        if _name(ctx, creation, number):
            given.append(number)
    return given


def _is_ours(snapshot: Snapshot, creation: IssueEvent) -> bool:
    """Whether this clone numbers the issue: it created it, or the clone that did is gone."""
    clones = {tip.clone for tip in snapshot.tips()}
    return creation.clone == snapshot.clone or creation.clone not in clones


def _name(ctx: Context, creation: IssueEvent, number: IssueNumber) -> bool:
    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        log = read_events(snapshot)
        lacking = {created.issue for created in replay.unnumbered(log)}
        if creation.issue not in lacking or number in log.numbers:
            return False, []
        event = IssueEvent(
            issue=creation.issue,
            id=digest(creation.issue, str(number)),
            kind="number",
            clock=highest(snapshot.clock, log.clock) + 1,
            clone=snapshot.clone,
            at=Timestamp(now_text(ctx.ws)),
            by=creation.by,
            number=number,
        )
        issue = find(replay.fold(log.with_one(event)), f"I-{creation.issue}")
        return True, [entry(event, "issue-number", issue, f"was I-{issue.id}: {issue.title}")]

    return transact(ctx.store, decide)
