"""The JSON of `agent-jobs`, `agent-dispatch` and `agent-explain`."""

from collections.abc import Sequence
from typing import TypedDict

from ghp_agents.jobs.explanation import KeptBack, RuleStep


class JobJson(TypedDict):
    """An issue as a job."""

    issue: int
    title: str
    state: str
    priority: str
    due: str | None
    assignees: list[str]
    holder: str | None
    blockedBy: list[int]
    requires: list[str]
    pull: int | None
    result: str | None  # of a completed job


class TurnJson(TypedDict):
    """What one agent could do with an issue."""

    agent: str
    canClaim: bool
    before: int
    hasRoom: bool | None  # for a dispatch; null if that would not choose the agent
    rules: Sequence[RuleStep]


class ReactionJson(TypedDict):
    """What stands in the way of an issue, and how many runs tried it."""

    cause: str
    text: str
    tried: int
    starts: bool


class IssueExplanationJson(TypedDict):
    """Why an issue is worked on, or not."""

    issue: int
    title: str
    state: str
    holder: str | None
    rules: Sequence[RuleStep]
    agents: list[TurnJson]
    reactions: list[ReactionJson]


class RoomJson(TypedDict):
    """The issues that an agent has, how many a dispatch lets it have, and the commands after which
    it has room; none if it has, or must finish claimed work first."""

    issues: list[str]
    limit: int
    changes: list[str]


class AgentExplanationJson(TypedDict):
    """Why an agent works, or is idle."""

    agent: str
    liveness: str
    clientEnded: bool  # and no other process of this clone works for it
    toldToStop: bool
    holds: list[str]
    next: int | None
    canClaim: int
    keptBack: Sequence[KeptBack]
    room: RoomJson


class AssignmentJson(TypedDict):
    """An issue that gets an agent, or (`to` is null) goes back to the queue."""

    issue: int
    title: str
    to: str | None
    previous: list[str]
    why: str
    failed: str | None


class DispatchJson(TypedDict):
    """What was assigned, and how many issues wait for which reason."""

    assigned: list[AssignmentJson]
    waiting: dict[str, int]
