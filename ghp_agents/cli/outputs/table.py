"""The JSON that commands print with `--json`, by command: `docs/schemas/` is written from it.

The commands name these types for type checks only. `output.as_json` adds the version.
"""

from typing import Any

from ghp_agents.cli.outputs.agent import (
    AgentRowJson,
    DashboardJson,
    LedgerEntryJson,
    LiftedJson,
    StatusJson,
    StoppedJson,
)
from ghp_agents.cli.outputs.conflicts import ConflictReportJson
from ghp_agents.cli.outputs.issue import ClaimJson, EpicJson, IssueJson, IssuePageJson
from ghp_agents.cli.outputs.job import (
    AgentExplanationJson,
    DispatchJson,
    IssueExplanationJson,
    JobJson,
)
from ghp_agents.cli.outputs.lease import (
    EditingJson,
    LeaseJson,
    LockJson,
    OverriddenFileJson,
    RefusedCommitJson,
    RefusedFileJson,
    WaitingJson,
)
from ghp_agents.cli.outputs.message import (
    LetterJson,
    MessageJson,
    SubscribedJson,
    TopicJson,
    VotesJson,
)
from ghp_agents.cli.outputs.pull import (
    EnqueuedJson,
    FinishedJson,
    MergedJson,
    PassedJson,
    PullJson,
    PullPageJson,
    ReviewJson,
    SentBackJson,
    StartedJson,
    UpdatedJson,
    WhereJson,
)
from ghp_agents.cli.outputs.report import CostsJson, ReportJson
from ghp_agents.cli.outputs.run import RunJson, TaskJson
from ghp_agents.cli.outputs.text import HandoffJson, NoteHitJson, NoteJson, QuestionJson, ResumeJson
from ghp_agents.cli.outputs.timeline import TimelineJson
from ghp_agents.cli.outputs.upkeep import BusySweepJson, FindingJson, SweepJson, TrustJson
from ghp_agents.cli.outputs.workflow import WorkflowsJson

OUTPUTS: dict[str, Any] = {  # by command
    "agent-check": list[RefusedFileJson | RefusedCommitJson | OverriddenFileJson] | LockJson,
    "agent-claim": ClaimJson,
    "agent-conflicts": ConflictReportJson,
    "agent-dashboard": DashboardJson,
    "agent-dispatch": DispatchJson,
    "agent-doctor": list[FindingJson],
    "agent-escalations": list[QuestionJson],
    "agent-explain": IssueExplanationJson | AgentExplanationJson,
    "agent-finish": FinishedJson,
    "agent-update": UpdatedJson,
    "agent-handoff": HandoffJson,
    "agent-inbox": list[LetterJson],
    "agent-inbox list": list[LetterJson],
    "agent-inbox read": list[MessageJson],
    "agent-issue show": IssuePageJson,
    "agent-issues": list[IssueJson],
    "agent-jobs": list[JobJson],
    "agent-lease": LeaseJson,
    "agent-leases": list[LeaseJson | WaitingJson | EditingJson],
    "agent-log": list[LedgerEntryJson],
    "agent-logs": list[RunJson],
    "agent-merge": list[MergedJson | SentBackJson | EnqueuedJson | PassedJson],
    "agent-notes list": list[NoteJson],
    "agent-notes show": NoteJson,
    "agent-pull show": PullPageJson,
    "agent-pulls": list[PullJson],
    "agent-recall": list[NoteHitJson],
    "agent-report": ReportJson | CostsJson,
    "agent-resume": ResumeJson,
    "agent-review": ReviewJson,
    "agent-send": MessageJson,
    "agent-start": StartedJson,
    "agent-status": StatusJson | EpicJson,
    "agent-stop": StoppedJson | LiftedJson,
    "agent-subscribe": SubscribedJson,
    "agent-sweep": SweepJson | BusySweepJson,
    "agent-tasks list": list[TaskJson],
    "agent-tasks progress": TaskJson,
    "agent-thread": list[MessageJson],
    "agent-timeline": TimelineJson,
    "agent-topic list": list[TopicJson],
    "agent-trust": TrustJson,
    "agent-vote": VotesJson,
    "agent-where": WhereJson,
    "agent-workflows": WorkflowsJson,
}

# What `--json FIELDS` chooses from, where it is neither the object nor each of its list.
CHOSEN_FROM: dict[str, Any] = {"agent-status": list[AgentRowJson] | EpicJson}
