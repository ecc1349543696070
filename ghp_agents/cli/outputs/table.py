"""The JSON that commands print with `--json`, by command: `docs/schemas/` is written from it.

The commands name these types for type checks only. `output.as_json` adds the version.
"""

from typing import Any

from ghp_agents.cli.outputs import (
    agent,
    conflicts,
    issue,
    job,
    lease,
    message,
    pull,
    report,
    run,
    text,
    upkeep,
    workflow,
)
from ghp_agents.core.finding import Finding
from ghp_agents.reports.costs import Costs
from ghp_agents.reports.timeline import Timeline

OUTPUTS: dict[str, Any] = {  # by command
    "agent-check": list[lease.RefusedFileJson | lease.RefusedCommitJson | lease.OverriddenFileJson]
    | lease.LockJson,
    "agent-claim": issue.ClaimJson,
    "agent-conflicts": conflicts.ConflictReportJson,
    "agent-dashboard": agent.DashboardJson,
    "agent-dispatch": job.DispatchJson,
    "agent-doctor": list[Finding],
    "agent-escalations": list[text.QuestionJson],
    "agent-explain": job.IssueExplanationJson | job.AgentExplanationJson,
    "agent-finish": pull.FinishedJson,
    "agent-update": pull.UpdatedJson,
    "agent-handoff": text.HandoffJson,
    "agent-inbox": list[message.LetterJson],
    "agent-inbox list": list[message.LetterJson],
    "agent-inbox read": list[message.MessageJson],
    "agent-issue show": issue.IssuePageJson,
    "agent-issues": list[issue.IssueJson],
    "agent-jobs": list[job.JobJson],
    "agent-lease": lease.LeaseJson,
    "agent-leases": list[lease.LeaseJson | lease.WaitingJson | lease.EditingJson],
    "agent-log": list[agent.LedgerEntryJson],
    "agent-logs": list[run.RunJson],
    "agent-merge": list[pull.MergedJson | pull.SentBackJson | pull.EnqueuedJson | pull.PassedJson],
    "agent-notes list": list[text.NoteJson],
    "agent-notes show": text.NoteJson,
    "agent-pull show": pull.PullPageJson,
    "agent-pulls": list[pull.PullJson],
    "agent-recall": list[text.NoteHitJson],
    "agent-report": report.ReportJson | Costs,
    "agent-resume": text.ResumeJson,
    "agent-review": pull.ReviewJson,
    "agent-send": message.MessageJson,
    "agent-start": pull.StartedJson,
    "agent-status": agent.StatusJson | issue.EpicJson,
    "agent-stop": agent.StoppedJson | agent.LiftedJson,
    "agent-subscribe": message.SubscribedJson,
    "agent-sweep": upkeep.SweepJson | upkeep.BusySweepJson,
    "agent-tasks list": list[run.TaskJson],
    "agent-tasks progress": run.TaskJson,
    "agent-thread": list[message.MessageJson],
    "agent-timeline": Timeline,
    "agent-topic list": list[message.TopicJson],
    "agent-trust": upkeep.TrustJson,
    "agent-vote": message.VotesJson,
    "agent-where": pull.WhereJson,
    "agent-workflows": workflow.WorkflowsJson,
}

# What `--json FIELDS` chooses from, where it is neither the object nor each of its list.
CHOSEN_FROM: dict[str, Any] = {"agent-status": list[agent.AgentRowJson] | issue.EpicJson}
