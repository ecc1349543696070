"""Leases, and what they refuse, as JSON."""

from typing import Literal, NotRequired, TypedDict


class ConflictJson(TypedDict):
    """Another lease that overlaps."""

    id: str
    holder: str
    what: str
    decides: str
    question: str | None


class LeaseJson(TypedDict):
    """A lease. `conflicts` is in lists only, `covers` for a new lease only."""

    id: str
    state: Literal["held"]
    holder: str
    person: bool
    patterns: list[str]
    name: str | None
    since: str
    until: str | None
    reason: str
    approved: bool
    strict: bool
    conflicts: NotRequired[list[ConflictJson]]
    covers: NotRequired[list[str]]


class AheadJson(TypedDict):
    """A lease or request that comes first."""

    id: str
    holder: str


class WaitingJson(TypedDict):
    """A request in the queue for a lease."""

    id: str
    state: Literal["waiting"]
    holder: str
    person: bool
    patterns: list[str]
    name: str | None
    since: str
    reason: str
    strict: bool
    behind: list[AheadJson]


class EditingJson(TypedDict):
    """An implicit lease: an agent edits a file."""

    state: Literal["editing"]
    holder: str
    path: str
    since: str
    worktree: str | None  # None: unknown


class RefusedFileJson(TypedDict):
    """A file that may not be changed now."""

    path: str
    decision: str
    kind: str
    holder: str | None
    since: str | None
    why: str
    next: str


class OverriddenFileJson(TypedDict):
    """A file that may be changed because of an override."""

    path: str
    decision: Literal["allow"]
    kind: Literal["override"]
    holder: str
    since: str
    why: str
    next: str


class RefusedCommitJson(TypedDict):
    """A commit by an agent that did not hold the claim."""

    commit: str
    decision: Literal["deny"]
    kind: Literal["commit"]
    agent: str
    why: str
    next: str


class LockJson(TypedDict):
    """A lock that the remote confirms."""

    right: str
    generation: int
    since: str
