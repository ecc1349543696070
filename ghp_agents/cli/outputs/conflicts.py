"""Conflicts between agents, as JSON."""

from typing import Literal, TypedDict


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


class MergeOrderJson(TypedDict):
    """The best order of merging: those that resolve nothing, then those that resolve conflicts."""

    free: list[int]
    resolving: list[int]


class LostDefinitionJson(TypedDict):
    """A definition that one agent removed. The new name or place is null if it is not evident."""

    name: str
    kind: str
    path: str
    line: int
    newName: str | None
    newPath: str | None


class ConflictWarningJson(TypedDict):
    """New lines of the second agent use a definition that the first one removed."""

    agents: list[str]
    path: str
    line: int
    lines: list[int]
    text: str
    definition: LostDefinitionJson


class SpellingWarningJson(TypedDict):
    """Names of files or folders that differ only in case; the agents add the first one, or both."""

    agents: list[str]
    paths: list[str]
    text: str


class UnreadWorkJson(TypedDict):
    """Work that could not be compared."""

    name: str
    why: str


class ConflictReportJson(TypedDict):
    """Who conflicts with whom. Works are named by their position in `compared`."""

    trunk: str
    trunkFetched: str | None
    compared: list[ComparedJson]
    conflicts: list[PairConflictJson]
    withTrunk: list[TrunkConflictJson]
    order: MergeOrderJson | None
    unread: list[UnreadWorkJson]
    spellings: list[SpellingWarningJson]
    warnings: list[ConflictWarningJson]
