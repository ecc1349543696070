"""The order of issues, for lists and for the choice of work: by who has it, priority, due date and
age."""

from typing import NamedTuple

from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.issues.job_fields import due

MOST_URGENT = 0  # `urgency` of a critical issue, which goes before what was only assigned
NOT_DUE = "9999"  # sorts behind every date


class Precedence(NamedTuple):
    """The place of an issue for somebody: the least comes first."""

    whose: int  # 0: claimed by me, 1 and 2: critical, 3 and 4: the rest; assigned to me, others
    urgency: int
    due: str


def precedence(issue: Issue, name: str | None, *, is_mine: bool = False) -> Precedence:
    """The place of an issue for `name`, who has claimed it if `is_mine`."""
    urgent = urgency(issue)
    other = name not in issue.assignees
    whose = 0 if is_mine else 1 + other if urgent == MOST_URGENT else 3 + other
    return Precedence(whose, urgent, due_or_last(issue))


def urgency(issue: Issue) -> int:
    """The sort key of an issue; the most urgent comes first."""
    is_known = issue.priority in PRIORITIES
    return PRIORITIES.index(issue.priority) if is_known else len(PRIORITIES)


def due_or_last(issue: Issue) -> str:
    """The date by which it must be done; behind all dates without one."""
    return due(issue) or NOT_DUE
