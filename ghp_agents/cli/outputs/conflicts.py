"""Conflicts between agents, as JSON."""

from typing import Literal, TypedDict

from ghp_agents.conflicts.definitions import LostDefinition
from ghp_agents.conflicts.order import MergeOrder
from ghp_agents.conflicts.spellings import SpellingWarning
from ghp_agents.conflicts.work import UnreadWork


class ComparedJson(TypedDict):
    """The work of an agent, or of several in one worktree."""

    agents: list[str]
    issue: int | None
    branch: str | None
    worktree: str | None
    commit: str
    uncommitted: bool
    pushed: bool
    notes: list[str]


class ClashPlaceJson(TypedDict):
    """Lines of both sides that conflict, from 1. Where lines were removed, the last line is the one
    before the first."""

    firstLine: int
    lastLine: int
    otherFirstLine: int
    otherLastLine: int
    text: str
    otherText: str


class PathConflictJson(TypedDict):
    """A file that git cannot merge."""

    path: str
    otherPaths: list[str]
    kind: Literal[
        "lines",
        "added",
        "deleted",
        "renamed",
        "binary",
        "mode",
        "folder",
        "link",
        "submodule",
        "other",
    ]
    what: str
    places: list[ClashPlaceJson]
    driver: str | None


class PairConflictJson(TypedDict):
    """Two works that conflict: the places of `compared`. `first` should be merged first."""

    first: int
    second: int
    files: list[PathConflictJson]


class TrunkConflictJson(TypedDict):
    """A work that conflicts with the main branch, which is the first side."""

    work: int
    files: list[PathConflictJson]


class ConflictWarningJson(TypedDict):
    """New lines of the second agent use a definition that the first one removed."""

    agents: list[str]
    path: str
    line: int
    lines: list[int]
    text: str
    definition: LostDefinition


class ConflictReportJson(TypedDict):
    """Who conflicts with whom. Works are named by their position in `compared`."""

    trunk: str
    trunkFetched: str | None
    compared: list[ComparedJson]
    conflicts: list[PairConflictJson]
    withTrunk: list[TrunkConflictJson]
    order: MergeOrder | None
    unread: list[UnreadWork]
    spellings: list[SpellingWarning]
    warnings: list[ConflictWarningJson]
