"""Agents, the ledger, and upstream's dashboard, as JSON."""

from typing import Any, Literal, NotRequired, TypedDict

from ghp_agents.cards.card import AgentCard
from ghp_agents.state.presence import AgentFields


class WaitJson(TypedDict):
    """What an agent waits for."""

    agent: str
    what: str


class NeedJson(TypedDict):
    """Why an agent needs a person. `text` is others': a question, the files in conflict."""

    kind: Literal[
        "unfinished",
        "question",
        "permission",
        "conflict",
        "checks",
        "changes",
        "dead",
        "ended",
        "left",
        "pull",
        "message",
        "budget",
        "input",
    ]
    text: str
    urgency: str | None  # of a question
    ageSeconds: int | None
    id: str | None  # of the question, the pull request, or the issue of left work
    command: str | None  # what to type about it


class AgentJson(AgentFields, TypedDict, total=False):
    """What an agent reports of itself, and what is known of it besides. The issue's title is shown
    only if the agent has claimed the issue."""

    waitsFor: list[WaitJson]
    liveness: Literal["active", "stale", "dead", "gone", "stopped"]
    clientEnded: bool  # true: and no other process of its clone works for it
    unblockedBy: list[int]  # it reports `blocked`, but all these blockers of its issue are closed
    group: Literal["needs-you", "working", "idle"]
    needs: list[NeedJson]
    issueTitle: str
    openQuestion: str
    worktreePath: str  # in this clone
    clone: str
    leaseCount: int
    lastError: str
    card: AgentCard


class AgentRowJson(AgentJson, TypedDict, total=False):
    """An agent by its name, for `--json FIELDS`."""

    agent: str


class UpstreamJson(TypedDict, total=False):
    """What upstream's `ghp` reports of an agent."""

    agent: str | None
    issue: int | None
    branch: str | None
    worktree: str | None
    status: str | None
    stage: str | None
    action: str | None
    waitingForInput: bool
    timestamp: str | None


class StatusJson(TypedDict):
    """The joined document: every agent that is not gone."""

    agents: dict[str, AgentJson]
    upstream: NotRequired[list[UpstreamJson]]


class LedgerEntryJson(TypedDict):
    """An entry of the ledger."""

    at: str
    event: str
    actor: str
    isPerson: bool
    object: str
    issue: int | None
    generation: int | None
    text: str
    id: str
    clock: int
    clone: str
    via: str | None


class DashboardItem(TypedDict):
    """One item of a branch."""

    id: str
    type: str
    title: str
    summary: NotRequired[str]
    timestamp: NotRequired[str]
    metadata: dict[str, Any]


class DashboardData(TypedDict):
    """The items of a branch."""

    title: str
    items: list[DashboardItem]


class DashboardJson(TypedDict):
    """The reply to upstream's dashboard, in its format."""

    success: bool
    data: NotRequired[DashboardData]
    error: NotRequired[str]


class StoppedJson(TypedDict):
    """What was done to stop an agent."""

    agent: str
    stopped: bool
    already: bool
    issues: list[int]
    handoffs: list[str]
    clientEnded: bool
    kept: bool


class LiftedJson(TypedDict):
    """Whether an order to stop was withdrawn."""

    agent: str
    lifted: bool
