"""The report of a time, as JSON."""

from typing import TypedDict


class ReportItemJson(TypedDict):
    """One thing that happened or waits: an issue, a pull request, a question, an agent, a note."""

    id: str
    title: str | None
    state: str | None
    text: str | None
    result: str | None
    command: str | None
    by: str | None
    byPerson: bool
    issue: int | None
    at: str | None
    options: list[str]


class ReportJson(TypedDict):
    """What happened since a time. `counts` has the number of each section; a section lists at most
    200."""

    since: str
    until: str
    counts: dict[str, int]
    waiting: list[ReportItemJson]
    sentBack: list[ReportItemJson]
    mergeable: list[ReportItemJson]
    merged: list[ReportItemJson]
    answered: list[ReportItemJson]
    opened: list[ReportItemJson]
    closed: list[ReportItemJson]
    handedOver: list[ReportItemJson]
    died: list[ReportItemJson]
    idle: list[ReportItemJson]
    learnt: list[ReportItemJson]


class UseJson(TypedDict):
    """What was used. Null: no client reports it. `usd` is the clients' own estimate, `apiSeconds`
    is how long models answered, and `inputTokens` include `cachedTokens`. `turns` and `runSeconds`
    are those of runs of `agent-work`."""

    usd: float | None
    apiSeconds: float | None
    inputTokens: int | None
    cachedTokens: int | None
    outputTokens: int | None
    linesAdded: int | None
    linesRemoved: int | None
    turns: int | None
    runSeconds: float | None


class AgentCostJson(UseJson):
    """What an agent used."""

    agent: str
    client: str | None
    model: str | None


class IssueCostJson(UseJson):
    """What was used for an issue; null: without an issue, or for older issues of an agent.
    `notReportedBy` has the agents on it whose clients report nothing."""

    issue: int | None
    title: str | None
    agents: list[str]
    notReportedBy: list[str]


class CostsJson(TypedDict):
    """What agents used since a time: `agent-report --cost`."""

    since: str
    until: str
    total: UseJson
    agents: list[AgentCostJson]
    issues: list[IssueCostJson]
