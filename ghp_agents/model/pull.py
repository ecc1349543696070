"""A pull request: finished work on its way to the trunk, whatever keeps it."""

from typing import NamedTuple

from ghp_agents.errors import RefusedError
from ghp_agents.model.names import Timestamp

STATES = ("open", "merged", "closed")
CHECK_STATES = ("none", "pending", "green", "red")


class Pull(NamedTuple):
    """A pull request as it is now."""

    number: int
    branch: str
    base: str
    head: str  # the commit that the branch is at, as the forge knows it
    title: str
    body: str = ""
    issue: int | None = None  # the one that it closes
    draft: bool = False
    state: str = "open"
    author: str = ""
    created_at: Timestamp = Timestamp("")
    updated_at: Timestamp = Timestamp("")
    merged_as: str | None = None  # the commit on the trunk
    url: str = ""
    rounds: int = 0  # how often it was sent back to its agent


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
    state: str | None = None  # open, closed; merged comes by merging only
    rounds: int | None = None


class Checks(NamedTuple):
    """What checks say: one word, and each check with its conclusion."""

    state: str = "none"
    details: tuple[tuple[str, str], ...] = ()  # (name, conclusion), failing ones first


class PullMovedError(RefusedError):
    """The branch has moved since it was looked at."""

    def __init__(self, pull: Pull) -> None:
        super().__init__(
            f"Pull request {pull.number} is at {pull.head[:12]} now; what was looked at is gone.",
            hint="Look at it again; then merge.",
        )
        self.pull = pull
