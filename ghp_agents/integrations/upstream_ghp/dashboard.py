"""The items of a branch for upstream's dashboard: agents, claim, questions and handoff.

Only what this clone knows; no network access.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ghp_agents.claims import shown_work
from ghp_agents.core.clock import ago
from ghp_agents.core.ids import issue_of_branch, one_line
from ghp_agents.escalations.escalation import Escalation, by_need, short_names
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.latest import latest
from ghp_agents.integrations.upstream_ghp.hooks import TITLE
from ghp_agents.leases import settled_questions
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context, LockService, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of
from ghp_agents.world import World

SUMMARY = 300  # characters

Item = dict[str, Any]


def dashboard(ctx: Context, branch: str) -> dict[str, Any]:
    """The reply to upstream's dashboard about a branch, in its format."""
    snapshot = ctx.store.snapshot()
    views = shown_work.shown(ctx, snapshot, presence.list_agents(ctx, snapshot))
    current = [view for view in views if view.liveness is not Liveness.GONE]
    issue = _issue(current, branch)
    here = [view for view in current if _is_here(view, branch, issue)]
    items = [
        *(_agent(view) for view in here),
        *_claim(ctx.locks, issue, here),
        *_questions(ctx, snapshot, issue, {view.name for view in here}),
        *_handoffs(snapshot, branch, issue),
    ]
    return {"success": True, "data": {"title": TITLE, "items": items}}


def failed(why: str) -> dict[str, Any]:
    """The reply on an error."""
    return {"success": False, "error": why}


def _issue(views: Iterable[AgentView], branch: str) -> int | None:
    on_branch = [view.presence for view in views if view.presence.get("branch") == branch]
    return issue_of_branch(branch) or next(filter(None, map(issue_of, on_branch)), None)


def _is_here(view: AgentView, branch: str, issue: int | None) -> bool:
    on_issue = issue is not None and issue_of(view.presence) == issue
    return on_issue or view.presence.get("branch") == branch


def _item(kind: str, name: str, title: str, summary: str, at: str, **metadata: Any) -> Item:
    item: Item = {"id": f"{kind}:{name}", "type": kind, "title": one_line(title, SUMMARY)}
    if summary:
        item["summary"] = one_line(summary, SUMMARY)
    if at:
        item["timestamp"] = one_line(at, 40)
    return {**item, "metadata": metadata}


def _agent(view: AgentView) -> Item:
    fields = view.presence
    status, issue = str(fields.get("status", "")), issue_of(fields)
    beat = f"{ago(view.silent)} ago" if view.is_here else "elsewhere"
    title = f"{view.name}: {view.liveness.value}, {status}" + (f" #{issue}" if issue else "")
    return _item(
        "agent", view.name, title,
        str(fields.get("lastAction", "")), str(fields.get("timestamp", "")),
        agent=view.name, state=view.liveness.value, status=status, issue=issue, beat=beat,
    )  # fmt: skip


def _claim(locks: LockService, issue: int | None, here: Sequence[AgentView]) -> Iterator[Item]:
    """The claim on the issue, if another agent holds it."""
    if issue is None:
        return
    for lock in locks.known(claim_name(issue)):
        is_held = lock.holder and lock.name == claim_name(issue)
        if is_held and lock.holder not in {view.name for view in here}:
            yield _item(
                "claim", str(issue), f"#{issue} is claimed by {lock.holder}", lock.reason,
                lock.acquired_at, issue=issue, holder=lock.holder,
            )  # fmt: skip


def _questions(
    ctx: Context, snapshot: Snapshot, issue: int | None, names: set[str]
) -> Iterator[Item]:
    questions = settled_questions.read(World(ctx, snapshot))
    short = short_names(questions)
    for item in by_need(questions):
        about = item.question.issue
        if item.is_open and (about == issue if about and issue else item.question.agent in names):
            yield _question(item, short[item.id])


def _question(escalation: Escalation, name: str) -> Item:
    question = escalation.question
    options = "; ".join(f"{n}. {text}" for n, text in enumerate(question.options, 1))
    return _item(
        "question", name, f"{name}, {question.agent} asks: {escalation.title}",
        f"{options + '. ' if options else ''}Answer: ghp agent-answer {name} TEXT",
        escalation.asked_at,
        agent=question.agent, issue=question.issue, urgency=escalation.urgency,
    )  # fmt: skip


def _handoffs(snapshot: Snapshot, branch: str, issue: int | None) -> Iterator[Item]:
    """The last handoff of the issue, or of the branch if it has no issue."""
    folder = handoff_record.folder_of(issue)
    handoffs = handoff_record.read_handoffs(snapshot.files(folder))[0]
    fitting = [handoff for handoff in handoffs if issue is not None or handoff.branch == branch]
    handoff = latest(fitting)
    if handoff is not None:
        to = f" to {handoff.to}" if handoff.to else ""
        command = f"ghp agent-resume --handoff {handoff.name}"
        yield _item(
            "handoff", handoff.name, f"{handoff.name}: {handoff.kind} by {handoff.by}{to}",
            handoff.note or command, handoff.at,
            command=command, issue=handoff.issue, by=handoff.by.name, to=handoff.to,
        )  # fmt: skip
