"""A pull request: finished work to be merged; the same for every forge."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, Timestamp, listed, one_line
from ghp_agents.issues.issue import PROVISIONAL


class Sent(NamedTuple):
    """The commit of a branch that `agent-finish` sent last, and for whom."""

    head: str
    by: Actor


class Pull(NamedTuple):
    """A pull request as it is now."""

    number: int
    branch: str
    base: str
    head: str  # the branch's commit, as the forge knows it
    title: str
    body: str = ""
    issue: int | None = None  # the one that it closes
    draft: bool = False
    state: str = "open"
    author: str = ""
    created_at: Timestamp = Timestamp("")
    updated_at: Timestamp = Timestamp("")
    merged_as: str | None = None  # the commit on the default branch
    url: str = ""
    paths: tuple[str, ...] = ()  # that its merge changed; empty if unknown, bounded if many
    sent: Sent | None = None  # None: `agent-finish` is not known to have sent it

    @property
    def waits(self) -> bool:
        """Whether it is only asked for, and has no number of the forge's yet."""
        return self.number >= PROVISIONAL


class Review(NamedTuple):
    """What somebody thinks of one commit of a pull request."""

    by: Actor
    head: str  # the branch's commit
    approves: bool  # else it requests changes
    text: str = ""  # others' text
    at: Timestamp = Timestamp("")


class NewPull(NamedTuple):
    """The fields of a new pull request."""

    branch: str
    base: str
    head: str
    title: str
    body: str = ""
    issue: int | None = None
    draft: bool = False


class PullChange(NamedTuple):
    """What to change; None leaves a field as it is."""

    title: str | None = None
    body: str | None = None
    head: str | None = None
    draft: bool | None = None
    state: str | None = None  # open, closed; only a merge sets merged
    base: str | None = None


class Checks(NamedTuple):
    """The state of all checks in one word, and each check with its conclusion."""

    state: str = "none"
    details: tuple[tuple[str, str], ...] = ()  # (name, conclusion), failing ones first
    unread: str = ""  # permissions without which some cannot be read; then it is not checked
    only_actions: bool = False  # of check runs, only those of GitHub Actions can be read
    output: str = ""  # what the failing ones say, bounded; others' words


class MergeStep(NamedTuple):
    """The merge of one pull request in a batch."""

    number: int
    head: str  # the branch's commit
    commit: str  # the default branch's commit with it; the next step is on top of this
    paths: tuple[str, ...] = ()  # that it changes


class EnqueuedError(RefusedError):
    """The host does not merge it now: it is in the host's merge queue, which checks and merges."""

    def __init__(self, pull: Pull, place: int) -> None:
        """`place` counts from 1; 0 if the host does not say."""
        super().__init__(
            f"#{pull.number} is in the host's merge queue.",
            hint=f"`ghp agent-merge {pull.number}` looks again.",
        )
        self.pull, self.place = pull, place


class PullMovedError(RefusedError):
    """The branch or the default branch has moved since it was read."""

    def __init__(self, pull: Pull, what: str = "") -> None:
        what = what or pull.branch
        super().__init__(
            f"Cannot merge #{pull.number}: {what} has moved since it was checked.",
            hint="Check it again, then merge: `ghp agent-merge` does both.",
        )
        self.pull = pull


class MergeConflictError(RefusedError):
    """The branch conflicts with the default branch."""

    def __init__(self, pull: Pull, paths: Sequence[str]) -> None:
        where = f" in {listed([one_line(path, 80) for path in paths], 10)}" if paths else ""
        super().__init__(
            f"{pull.branch} conflicts with {pull.base}{where}.",
            hint="Run `ghp agent-finish` in its worktree; it shows how to resolve this.",
        )
        self.paths = tuple(paths)


TITLE_LIMIT = 256  # GitHub's own, as for issues
BODY_LIMIT = 65_536


def checked_new(new: NewPull) -> NewPull:
    """Normalize the texts of a new pull request. Raises UsageError for what no forge takes."""
    if not (new.branch and new.base and new.head):
        raise UsageError(
            "A pull request needs a branch, a base branch and a commit.",
            hint="Commit something on a branch first.",
        )
    if new.branch == new.base:
        raise UsageError(
            f"{new.branch} is the main branch.", hint="Work on a branch: `ghp agent-start ISSUE`."
        )
    return new._replace(title=_title(new.title), body=_body(new.body))


def checked(change: PullChange) -> PullChange:
    """Normalize the texts of a change. Raises UsageError for what no forge takes."""
    if change.state not in (None, "open", "closed"):
        raise UsageError(
            f"A pull request cannot be changed to {change.state!r}.",
            hint="Use open or closed. To merge it, run `ghp agent-merge`.",
        )
    return change._replace(
        title=None if change.title is None else _title(change.title),
        body=None if change.body is None else _body(change.body),
    )


def effective(pull: Pull, change: PullChange) -> PullChange:
    """Return the fields that really change; of a merged pull request only its texts can."""
    new = {
        name: value
        for name, value in change._asdict().items()
        if value is not None and value != getattr(pull, name)
    }
    if pull.state == "merged":
        new = {name: value for name, value in new.items() if name in ("title", "body")}
    return PullChange(**new)


def brought_up(pull: Pull, new: NewPull) -> PullChange:
    """Return the change that updates an open pull request to what a new one would be."""
    return effective(pull, PullChange(new.title, new.body, new.head, new.draft, base=new.base))


def newest(pulls: Iterable[Pull], branch: str) -> Pull | None:
    """Return the open pull request of a branch, else its newest; `pulls` come oldest first."""
    of_branch = [pull for pull in pulls if pull.branch == branch]
    return next(
        (x for x in reversed(of_branch) if x.state == "open"), of_branch[-1] if of_branch else None
    )


def refuse_unready(pull: Pull) -> None:
    """Raise RefusedError for a pull request that is closed or a draft."""
    if pull.state == "closed":
        raise RefusedError(
            f"#{pull.number} is closed.",
            hint="Run `ghp agent-finish` in its worktree to open a new one.",
        )
    if pull.draft:
        raise RefusedError(
            f"#{pull.number} is a draft.",
            hint="Run `ghp agent-finish` in its worktree to mark it as ready.",
        )


def not_found(number: int) -> NotFoundError:
    """Return the error for an unknown pull request number."""
    return NotFoundError(
        f"There is no pull request #{number}.",
        hint="Open one with `ghp agent-finish`, or fetch those of other clones with `ghp "
        "agent-sync`.",
    )


def no_base(name: str) -> RefusedError:
    """Return the error for a main branch that does not exist."""
    return RefusedError(
        f"There is no branch {name} to merge into.",
        hint="If it was renamed, `ghp agent-finish` in the worktree of the work names the new one. "
        f"Otherwise push {name}, or correct `agents.trunk`.",
    )


def _title(text: str) -> str:
    title = one_line(text, TITLE_LIMIT)
    if not title:
        raise UsageError("The title is empty.", hint="Give the issue a title.")
    return title


def _body(text: str) -> str:
    tidy = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return tidy if len(tidy) <= BODY_LIMIT else tidy[: BODY_LIMIT - 2] + "\n…"
