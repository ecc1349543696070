"""What upstream's dashboard shows of a branch: who works on it, and what they ask and left.

Only what this clone knows; nobody is asked.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ghp_agents.core.clock import ago
from ghp_agents.core.ids import issue_of_branch, one_line
from ghp_agents.escalations import record as escalation_record
from ghp_agents.escalations.escalation import Escalation, by_need, short_names
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.integrations.upstream_ghp.hooks import TITLE
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace

SUMMARY = 300  # characters

Item = dict[str, Any]


def dashboard(ws: Workspace, store: StateStore, leaser: LockService, branch: str) -> dict[str, Any]:
    """The answer to upstream's question about a branch, in its form."""
    snapshot = store.snapshot()
    views = presence.list_agents(ws, store, snapshot)
    known = [view for view in views if view.liveness is not Liveness.GONE]
    issue = _issue(known, branch)
    here = [view for view in known if _is_here(view, branch, issue)]
    items = [
        *(_agent(view) for view in here),
        *_claim(leaser, issue, here),
        *_questions(snapshot, issue, {view.name for view in here}),
        *_handed(snapshot, branch, issue),
    ]
    return {"success": True, "data": {"title": TITLE, "items": items}}


def failed(why: str) -> dict[str, Any]:
    """The answer where there is none."""
    return {"success": False, "error": why}


def _issue(views: Iterable[AgentView], branch: str) -> int | None:
    there = (issue_of(view.presence) for view in views if view.presence.get("branch") == branch)
    return issue_of_branch(branch) or next(filter(None, there), None)


def _is_here(view: AgentView, branch: str, issue: int | None) -> bool:
    on_issue = issue is not None and issue_of(view.presence) == issue
    return on_issue or view.presence.get("branch") == branch


def _item(kind: str, name: str, title: str, summary: str, at: str, **metadata: Any) -> Item:
    found: Item = {"id": f"{kind}:{name}", "type": kind, "title": one_line(title, SUMMARY)}
    if summary:
        found["summary"] = one_line(summary, SUMMARY)
    if at:
        found["timestamp"] = one_line(at, 40)
    return {**found, "metadata": metadata}


def _agent(view: AgentView) -> Item:
    said = view.presence
    status, issue = str(said.get("status", "")), issue_of(said)
    beat = f"{ago(view.silent)} ago" if view.is_here else "elsewhere"
    title = f"{view.name}: {view.liveness.value}, {status}" + (f" #{issue}" if issue else "")
    return _item(
        "agent", view.name, title, str(said.get("lastAction", "")), str(said.get("timestamp", "")),
        agent=view.name, state=view.liveness.value, status=status, issue=issue, beat=beat,
    )  # fmt: skip


def _claim(leaser: LockService, issue: int | None, here: Sequence[AgentView]) -> Iterator[Item]:
    """Who has the issue, if it is somebody else."""
    if issue is None:
        return
    for lease in leaser.known(claim_name(issue)):
        there = lease.holder and lease.name == claim_name(issue)
        if there and lease.holder not in {view.name for view in here}:
            yield _item(
                "claim", str(issue), f"#{issue} is claimed by {lease.holder}", lease.reason,
                lease.acquired_at, issue=issue, holder=lease.holder,
            )  # fmt: skip


def _questions(snapshot: Snapshot, issue: int | None, names: set[str]) -> Iterator[Item]:
    asked = snapshot.files(escalation_record.ESCALATIONS)
    if not asked:
        return
    known = escalation_record.read({**asked, **snapshot.files(escalation_record.ANSWERS)})[0]
    short = short_names(known)
    for each in by_need(known):
        about = each.question.issue
        if each.is_open and (about == issue if about and issue else each.question.agent in names):
            yield _question(each, short[each.id])


def _question(asked: Escalation, name: str) -> Item:
    options = "; ".join(f"{n}. {text}" for n, text in enumerate(asked.question.options, 1))
    return _item(
        "question", name, f"{name}, {asked.question.agent} asks: {asked.title}",
        f"{options + '. ' if options else ''}Answer: ghp agent-answer {name} TEXT", asked.asked_at,
        agent=asked.question.agent, issue=asked.question.issue, urgency=asked.urgency,
    )  # fmt: skip


def _handed(snapshot: Snapshot, branch: str, issue: int | None) -> Iterator[Item]:
    """The last handoff of the issue, or of the branch where that is for no issue."""
    folder = handoff_record.folder_of(issue)
    left = handoff_record.read_handoffs(snapshot.files(folder))[0]
    fitting = [each for each in left if issue is not None or each.branch == branch]
    if fitting:
        yield _handoff(fitting[-1])


def _handoff(left: Handoff) -> Item:
    to = f" to {left.to}" if left.to else ""
    command = f"ghp agent-resume --handoff {left.name}"
    return _item(
        "handoff", left.name, f"{left.name}: {left.kind} by {left.by}{to}", left.note or command,
        left.at, command=command, issue=left.issue, by=left.by.name, to=left.to,
    )  # fmt: skip
