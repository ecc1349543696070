"""Issues, claims and epics, as JSON."""

from typing import Any, NotRequired, TypedDict


class ClaimFields(TypedDict):
    """The claim on an issue, as this clone knows it."""

    holder: str | None
    isPerson: bool
    generation: int
    since: str
    liveness: NotRequired[str]


class CommentJson(TypedDict):
    """A comment on an issue."""

    id: str
    author: str
    byPerson: bool
    byWriter: bool
    createdAt: str
    body: str


class PartJson(TypedDict):
    """A part of an issue."""

    number: int
    title: str
    state: str


class IssueJson(TypedDict):
    """An issue. `claim` is absent where claims are unknown: at a past time."""

    number: int
    id: str
    title: str
    body: str
    state: str
    labels: list[str]
    assignees: list[str]
    claim: NotRequired[ClaimFields | None]
    blockedBy: list[int]
    parent: int | None
    priority: str
    author: str
    byWriter: bool
    offered: bool
    bodyEditedAt: str | None
    createdAt: str
    updatedAt: str
    metadata: dict[str, Any]
    commentsLeftOut: int
    comments: list[CommentJson]


class IssuePageJson(IssueJson):
    """An issue with its parts."""

    parts: list[PartJson]


class ClaimJson(TypedDict):
    """A claim that was made or kept."""

    issue: int
    title: str
    holder: str | None
    generation: int
    since: str
    how: str
    previous: str | None
    waitsFor: list[str]


class PartWorkJson(PartJson):
    """A part of an epic, and who works on it."""

    parent: int | None
    depth: int
    claim: ClaimFields | None
    status: str | None
    waitsFor: list[str]
    questions: list[str]


class EpicJson(TypedDict):
    """An epic with the state of its parts."""

    number: int
    title: str
    state: str
    assignees: list[str]
    isDone: bool
    totals: dict[str, int]
    parts: list[PartWorkJson]
