"""An issue, the unit of work: the values that every tracker returns, and the common rules."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from ghp_agents.core.declared import OPTIONAL, Written
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber, Timestamp, agent_name, one_line, only_match
from ghp_agents.core.metadata import NO_METADATA, Metadata, as_object
from ghp_agents.issues.body_sections import section

T = TypeVar("T")
S = TypeVar("S", str, IssueNumber)

PROVISIONAL = 1_000_000_000  # from here on: provisional numbers, until the first sync
PRIORITIES = ("critical", "high", "medium", "low")
DEFAULT_PRIORITY = "medium"
STATES = ("open", "closed")

# GitHub's own limits, so that a local issue can be moved to GitHub.
JOB = "Job"  # the section of a body with the name of its job
TITLE_LIMIT = 256
BODY_LIMIT = 65_536
LABEL_LIMIT = 50
NAME_LIMIT = 80


class Comment(NamedTuple):
    """A comment on an issue."""

    id: str
    author: str
    at: Timestamp
    body: str
    by_person: bool = False
    by_writer: bool = True  # whether its author has write access


class Closing(NamedTuple):
    """An issue to close with a comment."""

    issue: int
    body: str
    marker: str


class Issue(NamedTuple):
    """An issue as it is now."""

    id: str  # the identity; numbers are names for it
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
    other_numbers: tuple[IssueNumber, ...] = ()  # also accepted, forever
    metadata: Metadata = NO_METADATA
    # The fields below differ only where people without write access file issues.
    by_writer: bool = True  # whether its author has write access
    offered: bool = True  # whether agents may claim it unasked
    fields_count: bool = True  # whether priority, scope and relations in its body count
    edited_at: str = ""  # when an author without write access edited; `body` is the text before it
    left_out: int = 0  # number of comments hidden from agents

    @property
    def form(self) -> str:
        """The body if its fields count, else empty."""
        return self.body if self.fields_count else ""

    @property
    def numbers(self) -> tuple[IssueNumber, ...]:
        """All numbers of the issue."""
        return (self.number, *self.other_numbers)


class IssueChange(NamedTuple):
    """What to change, or the fields of a new issue."""

    title: Annotated[str | None, OPTIONAL] = None  # None: unchanged
    body: Annotated[str | None, OPTIONAL] = None
    state: Annotated[str | None, OPTIONAL] = None
    priority: Annotated[str | None, OPTIONAL] = None
    parent: Annotated[IssueNumber | None, OPTIONAL] = None
    no_parent: Annotated[bool, OPTIONAL] = False
    add_labels: Annotated[tuple[str, ...], OPTIONAL] = ()
    remove_labels: Annotated[tuple[str, ...], OPTIONAL] = ()
    add_assignees: Annotated[tuple[str, ...], OPTIONAL] = ()
    remove_assignees: Annotated[tuple[str, ...], OPTIONAL] = ()
    add_blockers: Annotated[tuple[IssueNumber, ...], OPTIONAL] = ()
    remove_blockers: Annotated[tuple[IssueNumber, ...], OPTIONAL] = ()
    # The whole object, as `core.metadata.checked` returned it.
    metadata: Annotated[Metadata | None, Written(as_object, dict[str, Any]), OPTIONAL] = None


NO_CHANGE = IssueChange()


def provisional(issue: str) -> IssueNumber:
    """The provisional number of an issue: its id as digits, until it has a real number."""
    return IssueNumber(PROVISIONAL + int(issue[:12], 16))


def short(issue: Issue) -> str:
    """An issue's display name: `#12`, or `I-3f9a12` while it has no number."""
    return f"#{issue.number}" if issue.number < PROVISIONAL else f"I-{issue.id[:6]}"


def find(issues: Iterable[Issue], reference: str | int) -> Issue:
    """The issue that `12`, `#12`, `I-3f9a`, the start of an id, or the name of its job refers to.

    Digits alone are always a number: `close 12` must never close an issue whose id starts with
    12. Raises NotFoundError, or UsageError when several match.
    """
    text, issues = str(reference).strip(), [*issues]
    digits = text.removeprefix("#")
    if digits.isascii() and digits.isdigit():
        matches = [i for i in issues if digits.lstrip("0") in map(str, i.numbers) or i.id == text]
    else:
        prefix = text.lower().removeprefix("i-")
        matches = [i for i in issues if prefix and i.id.startswith(prefix)]
        matches = matches or [issue for issue in issues if text and job_name(issue) == text]
    hint = (
        "`ghp agent-issues --all` lists issues, `ghp agent-pulls` pull requests. `ghp agent-sync` "
        "fetches those of other clones."
    )
    return only_match(matches, text, "issue", lambda i: f"I-{i.id} ({one_line(i.title, 30)})", hint)


def job_name(issue: Issue) -> str:
    """The name of the job that an issue was made from; empty if it is of none."""
    return section(issue.form, JOB).partition(" ")[0].strip()


def checked(change: IssueChange) -> IssueChange:
    """The change with normalized texts. Raises UsageError for invalid values."""
    _one_of("priority", change.priority, PRIORITIES)
    _one_of("state", change.state, STATES)
    return change._replace(
        title=None if change.title is None else _line("title", change.title, TITLE_LIMIT),
        body=None if change.body is None else checked_text("body", change.body),
        add_labels=tuple(_line("label", label, LABEL_LIMIT) for label in change.add_labels),
        remove_labels=tuple(_line("label", label, LABEL_LIMIT) for label in change.remove_labels),
        add_assignees=tuple(assignee(name) for name in change.add_assignees),
        remove_assignees=tuple(_line("name", name, NAME_LIMIT) for name in change.remove_assignees),
    )


def checked_new(change: IssueChange) -> IssueChange:
    """The normalized fields of a new issue. Raises UsageError."""
    return checked(change._replace(title=change.title or ""))


def checked_comment(text: str) -> str:
    """The normalized text of a comment. Raises UsageError if it is empty or too long."""
    tidy = checked_text("comment", text)
    if not tidy.strip():
        raise UsageError(
            "The comment is empty.", hint="Give a text, or `-` to read one from stdin."
        )
    return tidy


def checked_text(what: str, text: str) -> str:
    """A multi-line text in the form that trackers store. Raises UsageError if it is too long."""
    tidy = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").strip("\n")
    if len(tidy) > BODY_LIMIT:
        raise UsageError(
            f"The {what} has {len(tidy)} characters; the limit is {BODY_LIMIT}.",
            hint="Move the long part to a file in the repository and refer to it.",
        )
    _no_secret(what, tidy)
    return tidy


def _no_secret(what: str, text: str) -> None:
    from ghp_agents.core.secret_scan import refuse  # slow to load, and only writing needs it

    refuse(what, text)


def assignee(name: str) -> str:
    """Check an assignee: any name of a person, or a valid agent name. Raises UsageError.

    A name with a capital, a space or a non-ASCII letter cannot be an agent's, so it is a
    person's. So is a name that begins with `@`, like an account.
    """
    tidy = _line("name", name, NAME_LIMIT)
    is_person = any(char.isspace() or char.isupper() or ord(char) > 127 for char in tidy)
    is_account = tidy.startswith("@") and len(tidy) > 1 and "/" not in tidy
    return tidy if is_person or is_account else agent_name(tidy)


def _line(what: str, text: str, limit: int) -> str:
    tidy = one_line(text, len(text) + 1)
    if not tidy or len(tidy) > limit:
        raise UsageError(
            f"The {what} has {len(tidy)} characters; it needs 1 to {limit}."
            if tidy
            else f"The {what} is empty.",
            hint="Shorten it, and put details into the body."
            if tidy
            else f"Enter a {what} with at least one letter.",
        )
    _no_secret(what, tidy)
    return tidy


def _one_of(what: str, value: str | None, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise UsageError(
            f"{one_line(value, 40)!r} is not a {what}.", hint=f"Use one of: {', '.join(choices)}."
        )


def resolved(issues: Sequence[Issue], change: IssueChange) -> IssueChange:
    """The change with the current number of each issue it names. Raises NotFoundError."""

    def present(numbers: Iterable[IssueNumber]) -> tuple[IssueNumber, ...]:
        return tuple(find(issues, number).number for number in numbers)

    return change._replace(
        parent=None if change.parent is None else find(issues, change.parent).number,
        add_blockers=present(change.add_blockers),
        remove_blockers=present(change.remove_blockers),
    )


def effective(issue: Issue, change: IssueChange) -> IssueChange:
    """The part of a change that has an effect, or NO_CHANGE. Removing wins over adding."""
    return IssueChange(
        title=_other(change.title, issue.title),
        body=_other(change.body, issue.body),
        state=_other(change.state, issue.state),
        priority=_other(change.priority, issue.priority),
        parent=_other(change.parent, issue.parent),
        no_parent=change.no_parent and change.parent is None and issue.parent is not None,
        add_labels=_new(change.add_labels, issue.labels, change.remove_labels),
        remove_labels=_present(change.remove_labels, issue.labels),
        add_assignees=_new(change.add_assignees, issue.assignees, change.remove_assignees),
        remove_assignees=_present(change.remove_assignees, issue.assignees),
        add_blockers=_new(change.add_blockers, issue.blocked_by, change.remove_blockers),
        remove_blockers=_present(change.remove_blockers, issue.blocked_by),
        metadata=_other(change.metadata, issue.metadata),
    )


def applied(issue: Issue, change: IssueChange, at: Timestamp) -> Issue:
    """The issue after an `effective` change."""

    def kept(wanted: T | None, current: T) -> T:
        return current if wanted is None else wanted

    return issue._replace(
        title=kept(change.title, issue.title),
        body=kept(change.body, issue.body),
        state=kept(change.state, issue.state),
        priority=kept(change.priority, issue.priority),
        parent=None if change.no_parent else kept(change.parent, issue.parent),
        labels=_with(issue.labels, change.add_labels, change.remove_labels),
        assignees=_with(issue.assignees, change.add_assignees, change.remove_assignees),
        blocked_by=_with(issue.blocked_by, change.add_blockers, change.remove_blockers),
        metadata=kept(change.metadata, issue.metadata),
        updated_at=at,
    )


def _other(wanted: T | None, current: T | None) -> T | None:
    return None if wanted == current else wanted


def _new(added: Iterable[T], current: Sequence[T], removed: Sequence[T]) -> tuple[T, ...]:
    return tuple(x for x in dict.fromkeys(added) if x not in current and x not in removed)


def _present(removed: Iterable[T], current: Sequence[T]) -> tuple[T, ...]:
    return tuple(x for x in dict.fromkeys(removed) if x in current)


def _with(current: Sequence[S], added: Iterable[S], removed: Iterable[S]) -> tuple[S, ...]:
    return tuple(sorted(set(current).union(added).difference(removed)))
