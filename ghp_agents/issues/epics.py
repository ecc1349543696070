"""Epics: issues with parts, which may have parts themselves."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ghp_agents.hotpath.quoting import phrase
from ghp_agents.issues.issue import Issue, short

REASON = "All parts are closed."


class EpicPart(NamedTuple):
    """A part of an epic; those at depth 1 are its own, the others are parts of parts."""

    issue: Issue
    depth: int


def parts(epic: Issue, issues: Iterable[Issue]) -> list[EpicPart]:
    """All parts of an epic, open and closed; each is followed by its own parts."""
    all_issues = list(issues)
    parts: list[EpicPart] = []
    visited = {epic.id}
    waiting = [EpicPart(child, 1) for child in reversed(own_parts(epic, all_issues))]
    while waiting:
        part = waiting.pop()
        if part.issue.id in visited:  # two clones can create a cycle
            continue
        visited.add(part.issue.id)
        parts.append(part)
        below = own_parts(part.issue, all_issues)
        waiting += [EpicPart(issue, part.depth + 1) for issue in reversed(below)]
    return parts


def own_parts(epic: Issue, issues: Iterable[Issue]) -> list[Issue]:
    """The parts of an epic, without parts of parts."""
    return [issue for issue in issues if issue.parent in epic.numbers]


def is_done(epic: Issue, own: Iterable[Issue]) -> bool:
    """Whether an open epic has parts, and all are closed. `own` are its parts."""
    states = {part.state for part in own}
    return epic.state == "open" and states == {"closed"}


def proposal(epic: Issue, count: int) -> str:
    """The sentence that proposes to close an epic with `count` parts, which are closed."""
    parts = "The only part" if count == 1 else f"All {count} parts"
    number = short(epic).removeprefix("#")
    return (
        f"{parts} of {short(epic)} {phrase(epic.title)} {'is' if count == 1 else 'are'} closed. "
        f"If it is done: `ghp agent-issue close {number} --reason '{REASON}'`."
    )


def managed(
    part: Issue,
    by_number: Mapping[int, Issue],
    is_mine: Callable[[Issue], bool],
    is_managed: Callable[[Issue], bool],
    *,
    is_orchestrator: bool = False,
) -> Issue | None:
    """The nearest epic of a part that has a manager, if it is mine. If none has one, the nearest
    is an orchestrator's. `by_number` are all issues by number."""
    above = list(_above(part, by_number))
    for epic in above:
        if is_mine(epic):
            return epic
        if is_managed(epic):
            return None
    return above[0] if above and is_orchestrator else None


def _above(part: Issue, by_number: Mapping[int, Issue]) -> Iterator[Issue]:
    """The epics that an issue is a part of, nearest first."""
    visited = {part.id}
    epic = by_number.get(part.parent or 0)
    while epic and epic.id not in visited:
        yield epic
        visited.add(epic.id)
        epic = by_number.get(epic.parent or 0)
