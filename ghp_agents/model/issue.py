"""An issue: the unit of work. What a tracker answers, whatever it keeps its issues in."""

from dataclasses import dataclass, field

from ghp_agents.model.names import IssueNumber, Timestamp

PROVISIONAL = 1_000_000_000  # numbers from here on are given offline, until the first sync
PRIORITIES = ("critical", "high", "medium", "low")
DEFAULT_PRIORITY = "medium"


@dataclass(frozen=True, slots=True)
class Comment:
    """Something said about an issue."""

    id: str
    author: str
    at: Timestamp
    body: str
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as it is now."""

    id: str  # its identity; the number is a name
    number: IssueNumber
    title: str
    body: str = ""
    state: str = "open"  # open, closed
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    blocked_by: tuple[IssueNumber, ...] = ()
    parent: IssueNumber | None = None
    priority: str = DEFAULT_PRIORITY
    author: str = ""
    created_at: Timestamp = Timestamp("")
    updated_at: Timestamp = Timestamp("")
    comments: tuple[Comment, ...] = ()
    other_numbers: tuple[IssueNumber, ...] = field(default=())  # accepted for ever, too


@dataclass(frozen=True, slots=True)
class IssueChange:
    """What to change; None leaves a field as it is. Also the fields of a new issue."""

    title: str | None = None
    body: str | None = None
    state: str | None = None
    priority: str | None = None
    parent: IssueNumber | None = None
    no_parent: bool = False
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    add_assignees: tuple[str, ...] = ()
    remove_assignees: tuple[str, ...] = ()
    add_blockers: tuple[IssueNumber, ...] = ()
    remove_blockers: tuple[IssueNumber, ...] = ()
