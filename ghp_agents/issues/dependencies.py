"""Dependencies between issues, and which issues are ready to claim."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import Issue, IssueChange, short
from ghp_agents.locks.lock import Lock

Way = Sequence[Issue]
Next = Callable[[Issue], Iterable[IssueNumber]]
NO_CLAIMS: Mapping[int, Lock] = {}
EPIC = "epic"  # the label of an issue that is done when its parts are done
NEEDS_HUMAN = "agent:needs-human"  # default label of an issue that waits for a person


def ready(
    issues: Sequence[Issue],
    of: str | None = None,
    claims: Mapping[int, Lock] = NO_CLAIMS,
    needs_human: str = NEEDS_HUMAN,
    commanded: Container[int] = (),
) -> list[Issue]:
    """The issues that can be claimed, in the given order.

    `issues` include all open ones. A ready issue is open and has a title: without one, its creation
    has not arrived yet. It is unassigned or, with `of`, assigned to that name; nobody else has
    claimed it. It has no open blocker and neither label below. It is offered to agents, or is in
    `commanded`.
    """
    waited_for = {number for issue in issues if issue.state == "open" for number in issue.numbers}
    return [
        issue
        for issue in issues
        if issue.state == "open"
        and issue.title
        and (of in issue.assignees if of else not issue.assignees)
        and not any(claims[number].holder != of for number in issue.numbers if number in claims)
        and waited_for.isdisjoint(issue.blocked_by)
        and not has_label(issue, EPIC)
        and not has_label(issue, needs_human)
        and (issue.offered or any(number in commanded for number in issue.numbers))
    ]


def has_label(issue: Issue, label: str) -> bool:
    """Whether an issue has a label; like GitHub, this ignores case."""
    return any(name.lower() == label.lower() for name in issue.labels)


def open_blockers(issue: Issue, issues: Iterable[Issue]) -> list[Issue]:
    """The open ones of `issues` that block `issue`."""
    return [
        blocker
        for blocker in issues
        if blocker.state == "open" and not set(blocker.numbers).isdisjoint(issue.blocked_by)
    ]


def refuse_circles(issues: Iterable[Issue], issue: Issue, change: IssueChange) -> None:
    """Raises UsageError when an issue would block itself or be a part of itself."""
    by_number = {other.number: other for other in issues}
    for blocker in change.add_blockers:
        way = _way(by_number, by_number[blocker], issue, _blockers)
        if way:
            raise _circle(issue, way, "blocked by", "block {0} --by {1} --remove")
    if change.parent is not None:
        way = _way(by_number, by_number[change.parent], issue, _parents)
        if way:
            raise _circle(issue, way, "part of", "edit {0} --no-parent")


def _circle(issue: Issue, way: Way, relation: str, command: str) -> UsageError:
    name = short(issue)
    if len(way) == 1:
        return UsageError(f"{name} cannot be {relation} itself.", hint="Name another issue.")
    steps = ", which is ".join(f"{relation} {short(step)}" for step in way)
    words = command.format(*(short(step).removeprefix("#") for step in way))
    return UsageError(
        f"That would be a cycle: {name} would be {steps}.",
        hint=f"If this is intended, first remove the opposite link: `ghp agent-issue {words}`.",
    )


def _blockers(issue: Issue) -> Iterable[IssueNumber]:
    return issue.blocked_by


def _parents(issue: Issue) -> Iterable[IssueNumber]:
    return () if issue.parent is None else (issue.parent,)


def _way(by_number: Mapping[IssueNumber, Issue], start: Issue, goal: Issue, after: Next) -> Way:
    """The path of issues from `start` to `goal`, both included; empty if there is none."""
    came_from: dict[IssueNumber, Issue | None] = {start.number: None}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if here.number == goal.number:
            return _back(here, came_from)
        for number in after(here):
            if number in by_number and number not in came_from:
                came_from[number] = here
                waiting.append(by_number[number])
    return []


def _back(end: Issue, came_from: Mapping[IssueNumber, Issue | None]) -> Way:
    way: list[Issue] = []
    step: Issue | None = end
    while step is not None:
        way.append(step)
        step = came_from[step.number]
    return way[::-1]


def deadlock(issues: Iterable[Issue]) -> list[Issue]:
    """A cycle of open issues: each waits for the next, the last for the first; else empty.

    Two clones can create a cycle before they sync with each other."""
    left = {issue.number: issue for issue in issues if issue.state == "open"}
    waits = {n: [b for b in issue.blocked_by if b in left] for n, issue in left.items()}
    waiters: dict[IssueNumber, list[IssueNumber]] = {number: [] for number in left}
    for number, blockers in waits.items():
        for blocker in blockers:
            waiters[blocker].append(number)
    open_blockers = {number: len(blockers) for number, blockers in waits.items()}
    free = [number for number, count in open_blockers.items() if not count]
    while free:
        done = free.pop()
        del left[done]
        for waiter in waiters[done]:
            open_blockers[waiter] -= 1
            if not open_blockers[waiter]:
                free.append(waiter)
    return _ring(left, waits)


def _ring(
    stuck: Mapping[IssueNumber, Issue], waits: Mapping[IssueNumber, Sequence[IssueNumber]]
) -> list[Issue]:
    """Each of `stuck` waits for another of them, so following the blockers finds a cycle."""
    if not stuck:
        return []
    visited: dict[IssueNumber, int] = {}
    here = min(stuck)
    while here not in visited:
        visited[here] = len(visited)
        here = next(blocker for blocker in waits[here] if blocker in stuck)
    return [stuck[number] for number in list(visited)[visited[here] :]]
