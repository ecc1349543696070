"""Which issues wait for which, and so what can be taken now."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import PRIORITIES, Issue, IssueChange, short
from ghp_agents.locks.lock import Lock

Way = Sequence[Issue]
Next = Callable[[Issue], Iterable[IssueNumber]]
NO_CLAIMS: Mapping[int, Lock] = {}
EPIC = "epic"  # the label of an issue that is done by doing its parts
NEEDS_HUMAN = "agent:needs-human"  # the label of one about which a person is asked, unless set


def ready(
    issues: Sequence[Issue],
    of: str | None = None,
    claims: Mapping[int, Lock] = NO_CLAIMS,
    needs_human: str = NEEDS_HUMAN,
    commanded: Container[int] = (),
) -> list[Issue]:
    """What can be taken of `issues`, which come oldest first and hold all that are open.

    That is: open, with a title (without one its creation is not here yet), unassigned or, with
    `of`, assigned to that one, claimed by nobody else, with no open blocker and no label that says
    that it is not for taking, and offered to agents, or among those that somebody `commanded` on;
    most urgent first, then oldest.
    """
    waited_for = {number for issue in issues if issue.state == "open" for number in issue.numbers}
    found = [
        issue
        for issue in issues
        if issue.state == "open"
        and issue.title
        and (of in issue.assignees if of else not issue.assignees)
        and not _held_by_another(issue, of, claims)
        and waited_for.isdisjoint(issue.blocked_by)
        and not has_label(issue, EPIC)
        and not has_label(issue, needs_human)
        and (issue.offered or any(number in commanded for number in issue.numbers))
    ]
    return sorted(found, key=urgency)


def has_label(issue: Issue, label: str) -> bool:
    """Whether an issue has a label, as GitHub compares them: whatever their case."""
    return any(each.lower() == label.lower() for each in issue.labels)


def _held_by_another(issue: Issue, holder: str | None, claims: Mapping[int, Lock]) -> bool:
    return any(claims[number].holder != holder for number in issue.numbers if number in claims)


def open_blockers(issue: Issue, issues: Iterable[Issue]) -> list[Issue]:
    """The open ones of `issues` that `issue` waits for."""
    return [
        each
        for each in issues
        if each.state == "open" and not set(each.numbers).isdisjoint(issue.blocked_by)
    ]


def urgency(issue: Issue) -> int:
    """What to sort issues by; the most urgent first."""
    known = issue.priority in PRIORITIES
    return PRIORITIES.index(issue.priority) if known else len(PRIORITIES)


def refuse_circles(issues: Iterable[Issue], issue: Issue, change: IssueChange) -> None:
    """Raises UsageError when an issue would wait for itself or be a part of itself."""
    by_number = {each.number: each for each in issues}
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
    steps = ", which is ".join(f"{relation} {short(each)}" for each in way)
    words = command.format(*(short(each).removeprefix("#") for each in way))
    return UsageError(
        f"That would be a circle: {name} would be {steps}.",
        hint=f"If it is right, take away what it contradicts: `ghp agent-issue {words}`.",
    )


def _blockers(issue: Issue) -> Iterable[IssueNumber]:
    return issue.blocked_by


def _parents(issue: Issue) -> Iterable[IssueNumber]:
    return () if issue.parent is None else (issue.parent,)


def _way(by_number: Mapping[IssueNumber, Issue], start: Issue, goal: Issue, after: Next) -> Way:
    """The issues from `start` to `goal`, both included; none if there is no way."""
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
    """Open issues that wait for each other in a circle, if there are any: each for the next, the
    last for the first. Two clones can make one without knowing of each other."""
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
    """Each of `stuck` waits for another of them, so following leads into a circle."""
    if not stuck:
        return []
    seen: dict[IssueNumber, int] = {}
    here = min(stuck)
    while here not in seen:
        seen[here] = len(seen)
        here = next(blocker for blocker in waits[here] if blocker in stuck)
    return [stuck[number] for number in list(seen)[seen[here] :]]
