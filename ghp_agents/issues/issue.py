"""An issue: the unit of work. What a tracker answers, whatever it keeps its issues in, and the
rules that hold in all of them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import IssueNumber, Timestamp, agent_name, one_line

T = TypeVar("T")
S = TypeVar("S", str, IssueNumber)

PROVISIONAL = 1_000_000_000  # numbers from here on are given offline, until the first sync
PRIORITIES = ("critical", "high", "medium", "low")
DEFAULT_PRIORITY = "medium"
STATES = ("open", "closed")

# GitHub's own limits: an issue that is kept here can move there.
TITLE_LIMIT = 256
BODY_LIMIT = 65_536
LABEL_LIMIT = 50
NAME_LIMIT = 80


class Comment(NamedTuple):
    """Something said about an issue."""

    id: str
    author: str
    at: Timestamp
    body: str
    by_person: bool = False
    by_writer: bool = True  # False: its author may not write to the repository


class Issue(NamedTuple):
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
    other_numbers: tuple[IssueNumber, ...] = ()  # accepted for ever, too
    # What follows can differ only where people file issues who may not write to the repository.
    by_writer: bool = True  # whether its author may write
    offered: bool = True  # whether agents may take it by themselves
    fields_count: bool = True  # whether priority, scope and relations in its body count
    edited_at: str = ""  # the author changed the body then, and may not: the text is the one before
    left_out: int = 0  # comments that are not shown to agents

    @property
    def form(self) -> str:
        """The body as far as its fields count: empty where they do not."""
        return self.body if self.fields_count else ""

    @property
    def numbers(self) -> tuple[IssueNumber, ...]:
        """All numbers that name it."""
        return (self.number, *self.other_numbers)


class IssueChange(NamedTuple):
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


NO_CHANGE = IssueChange()


# ---------------------------------------------------------------------------- how it is called


def provisional(issue: str) -> IssueNumber:
    """The number that an issue goes by until it has one of its own: its id, as digits."""
    return IssueNumber(PROVISIONAL + int(issue[:12], 16))


def short(issue: Issue) -> str:
    """An issue's name in print: `#12`, or `I-3f9a12` as long as it has no number."""
    return f"#{issue.number}" if issue.number < PROVISIONAL else f"I-{issue.id[:6]}"


def find(issues: Iterable[Issue], reference: str | int) -> Issue:
    """The issue that `12`, `#12`, `I-3f9a` or the start of an id names.

    Digits alone are always a number: `close 12` must never close an issue whose id happens to
    start with 12. Raises NotFoundError, or UsageError when several fit.
    """
    text = str(reference).strip()
    digits = text.removeprefix("#")
    if digits.isascii() and digits.isdigit():
        found = [i for i in issues if digits.lstrip("0") in map(str, i.numbers) or i.id == text]
    else:
        prefix = text.lower().removeprefix("i-")
        found = [i for i in issues if prefix and i.id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{text[:40]!r} fits {len(found)} issues.",
            hint="Name one by more of its id: "
            + ", ".join(f"I-{issue.id} ({one_line(issue.title, 30)})" for issue in found[:5])
            + ("…" if len(found) > 5 else "."),
        )
    raise NotFoundError(
        f"There is no issue {one_line(text, 40) or '(nothing)'}.",
        hint="`ghp agent-issues --all` lists them; `ghp agent-sync` fetches those of other clones.",
    )


# ------------------------------------------------------------------------------ what is allowed


def checked(change: IssueChange) -> IssueChange:
    """The change with its texts tidied. Raises UsageError for what no tracker takes."""
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
    """The fields of a new issue, tidied. Raises UsageError."""
    return checked(change._replace(title=change.title or ""))


def checked_comment(text: str) -> str:
    """What can be said about an issue. Raises UsageError."""
    tidy = checked_text("comment", text)
    if not tidy.strip():
        raise UsageError(
            "The comment is empty.", hint="Give a text, or `-` to read one from stdin."
        )
    return tidy


def checked_text(what: str, text: str) -> str:
    """A text of several lines as trackers keep it. Raises UsageError when it is too long."""
    tidy = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").strip("\n")
    if len(tidy) > BODY_LIMIT:
        raise UsageError(
            f"The {what} has {len(tidy)} characters; an issue takes {BODY_LIMIT}.",
            hint="Put the long part into a file of the repository and name it here.",
        )
    _no_secret(what, tidy)
    return tidy


def _no_secret(what: str, text: str) -> None:
    from ghp_agents.core.secret_scan import refuse  # a dozen patterns, which reading does not need

    refuse(what, text)


def assignee(name: str) -> str:
    """Somebody who can be assigned: a person by any name, an agent by a checked one.

    What has a capital, a space or a letter beyond ASCII cannot be an agent's name, so it is a
    person's; and so is what begins with `@`, as accounts do. Raises UsageError.
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
            hint="Shorten it; what is long goes into the body."
            if tidy
            else f"Give a {what} with at least one letter.",
        )
    _no_secret(what, tidy)
    return tidy


def _one_of(what: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise UsageError(
            f"{one_line(value, 40)!r} is not a {what}.", hint=f"Use one of: {', '.join(known)}."
        )


# ------------------------------------------------------------------------------- what changes


def resolved(issues: Sequence[Issue], change: IssueChange) -> IssueChange:
    """The change with every issue it names called by its present number. Raises NotFoundError."""

    def present(numbers: Iterable[IssueNumber]) -> tuple[IssueNumber, ...]:
        return tuple(find(issues, number).number for number in numbers)

    return change._replace(
        parent=None if change.parent is None else find(issues, change.parent).number,
        add_blockers=present(change.add_blockers),
        remove_blockers=present(change.remove_blockers),
    )


def effective(issue: Issue, change: IssueChange) -> IssueChange:
    """What of a change is not so already; NO_CHANGE if all of it is. Removing wins over adding."""
    return IssueChange(
        title=_other(change.title, issue.title),
        body=_other(change.body, issue.body),
        state=_other(change.state, issue.state),
        priority=_other(change.priority, issue.priority),
        parent=_other(change.parent, issue.parent),
        no_parent=change.no_parent and change.parent is None and issue.parent is not None,
        add_labels=_new(change.add_labels, issue.labels, change.remove_labels),
        remove_labels=_had(change.remove_labels, issue.labels),
        add_assignees=_new(change.add_assignees, issue.assignees, change.remove_assignees),
        remove_assignees=_had(change.remove_assignees, issue.assignees),
        add_blockers=_new(change.add_blockers, issue.blocked_by, change.remove_blockers),
        remove_blockers=_had(change.remove_blockers, issue.blocked_by),
    )


def applied(issue: Issue, change: IssueChange, at: Timestamp) -> Issue:
    """The issue after a change that is `effective` on it."""

    def kept(wanted: T | None, had: T) -> T:
        return had if wanted is None else wanted

    return issue._replace(
        title=kept(change.title, issue.title),
        body=kept(change.body, issue.body),
        state=kept(change.state, issue.state),
        priority=kept(change.priority, issue.priority),
        parent=None if change.no_parent else kept(change.parent, issue.parent),
        labels=_with(issue.labels, change.add_labels, change.remove_labels),
        assignees=_with(issue.assignees, change.add_assignees, change.remove_assignees),
        blocked_by=_with(issue.blocked_by, change.add_blockers, change.remove_blockers),
        updated_at=at,
    )


def _other(wanted: T | None, had: T | None) -> T | None:
    return None if wanted == had else wanted


def _new(added: Iterable[T], had: Sequence[T], removed: Sequence[T]) -> tuple[T, ...]:
    return tuple(x for x in dict.fromkeys(added) if x not in had and x not in removed)


def _had(removed: Iterable[T], had: Sequence[T]) -> tuple[T, ...]:
    return tuple(x for x in dict.fromkeys(removed) if x in had)


def _with(had: Sequence[S], added: Iterable[S], removed: Iterable[S]) -> tuple[S, ...]:
    there = set(had).union(added).difference(removed)
    return tuple(sorted(there))
