"""Work on a branch, from its worktree to the merged pull request, as JSON."""

from typing import Literal, NotRequired, TypedDict

from ghp_agents.git.both_sides import ConflictedFile


class SetupJson(TypedDict):
    """The set-up command of a new worktree, and its exit code."""

    command: str
    code: int


class StartedJson(TypedDict):
    """The worktree in which the agent works now."""

    path: str
    branch: str
    issue: int
    how: str
    setup: SetupJson | None


class WhereJson(TypedDict):
    """The worktree of an issue or an agent."""

    agent: NotRequired[str]
    issue: int | None
    path: str
    branch: str | None


class UpdatedJson(TypedDict):
    """An update of a branch. `method` is null if nothing was changed."""

    branch: str
    base: str
    old: str
    head: str
    method: str | None
    carried: int
    replaces: bool
    conflicts: list[ConflictedFile]


class CheckJson(TypedDict):
    """The result of one of the project's checks."""

    command: str
    passed: bool


class FinishedJson(TypedDict):
    """The pull request that was opened or updated."""

    number: int | None  # null in a sandbox: it is opened when the run has ended
    url: str | None
    branch: str
    head: str
    issue: int
    draft: bool
    new: bool
    commits: int
    checks: list[CheckJson]


class PullJson(TypedDict):
    """A pull request."""

    number: int
    state: str
    draft: bool
    issue: int | None
    branch: str
    base: str
    head: str
    author: str
    title: str
    createdAt: str
    updatedAt: str
    mergedAs: str | None
    url: str | None


class MergeJson(TypedDict):
    """The pull request that a merge was about."""

    number: int
    branch: str
    issue: int | None


class MergedJson(MergeJson):
    """A pull request that is on the main branch."""

    outcome: Literal["merged"]
    mergedAs: str | None
    already: bool


class SentBackJson(MergeJson):
    """A pull request that was sent back to its agent, or to a person."""

    outcome: Literal["returned"]
    reason: str
    round: int
    to: str
    escalation: str | None


class EnqueuedJson(MergeJson):
    """A pull request in the host's merge queue."""

    outcome: Literal["enqueued"]
    place: int | None


class PassedJson(MergeJson):
    """A pull request that stays in the queue. The outcome will be called `skipped`."""

    outcome: Literal["passed"]
    skipped: bool
    why: str


class ReviewJson(TypedDict):
    """A review that was recorded, or was already."""

    number: int
    head: str
    verdict: str
    by: str
    person: bool
    text: str
    already: bool


class ReviewOfPullJson(TypedDict):
    """A review of a commit of a pull request."""

    by: str
    byPerson: bool
    head: str
    approves: bool
    text: str


class ReturnJson(TypedDict):
    """How a pull request was sent back."""

    round: int
    reason: str
    text: str
    agent: str
    head: str
    trunk: str
    at: str
    by: str
    byPerson: bool


class PullPageJson(PullJson):
    """A pull request in full. `fits` is null if that is unknown."""

    body: str
    fits: bool | None
    removed: list[str]
    waitsFor: list[str]
    conflicts: list[str]
    reviews: list[ReviewOfPullJson]
    returns: list[ReturnJson]
    diff: NotRequired[str]
