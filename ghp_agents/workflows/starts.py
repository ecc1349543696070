"""What starts workflows besides the command: a message to a topic, and a label of an issue. Only
files on main can say so."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ghp_agents.core.ids import Actor, digest, one_line
from ghp_agents.hotpath.quoting import file
from ghp_agents.issues import record as issues_record
from ghp_agents.issues.issue import Issue
from ghp_agents.messages import record, service
from ghp_agents.messages.message import Message
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.sender_budget import SenderBudget, Senders
from ghp_agents.state.transact import transact
from ghp_agents.workflows import files
from ghp_agents.workflows.workflow import Workflow
from ghp_agents.workspace import Workspace

LABEL = "label"
NOBODY = "nobody"  # the author of an issue without one
Pair = tuple[Workflow, Issue]


def of_message(ws: Workspace, to: Sequence[str], payload: str) -> str:
    """The workflow that a message to these recipients starts; empty if it starts none. The first
    one by name counts."""
    topics = {address[1:] for address in to if address.startswith("@")}
    workflows = (x for x in _of_main(ws, "topic") if topics and x.topic in topics)
    return next(
        (x.name for x in workflows if not x.when or _fields(payload).get(x.when) is True), ""
    )


def _fields(payload: str) -> dict[str, Any]:
    """The fields of a payload, which is checked later."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def by_labels(ctx: Context, budget: SenderBudget | None = None) -> list[str]:
    """Start the workflows whose labels open issues have, each once for an issue; return notes. Of
    what one sender labelled, `budget` has the first."""
    workflows = [workflow for workflow in _of_main(ctx.ws, LABEL) if workflow.label]
    issues = ctx.tracker.known() if workflows else []
    pairs = [(w, issue) for w in workflows for issue in issues if w.label in issue.labels]
    snapshot = ctx.store.snapshot()
    budget = budget or SenderBudget(snapshot)
    now = budget.first(
        "labels", _new(snapshot, pairs), lambda pair: _senders(snapshot, budget, pair[1])
    )

    def decide(snapshot: Snapshot) -> tuple[list[str], list[Record]]:
        messages = [
            (issue, _started(ctx, snapshot, workflow, issue, later))
            for later, (workflow, issue) in enumerate(_new(snapshot, now))
        ]
        notes = [
            f"Started the workflow {x.workflow} for #{y.number}: {x.name}." for y, x in messages
        ]
        return notes, [service.sent_record(message) for _, message in messages]

    return transact(ctx.store, decide) if now else []


def _new(snapshot: Snapshot, pairs: Iterable[Pair]) -> list[Pair]:
    """Those that nobody has started. Their ids follow from the issue, so that clones that start
    them at once make one message."""
    names = ((pair, _identity(*pair)) for pair in pairs)
    return [
        pair
        for pair, name in names
        if record.path_of(name) not in snapshot.files(record.folder_of(name))
    ]


def _identity(workflow: Workflow, issue: Issue) -> str:
    return digest("workflow", LABEL, workflow.name, issue.id)


def _senders(snapshot: Snapshot, budget: SenderBudget, issue: Issue) -> Senders:
    """The other clones that wrote of an issue; on a host, its author."""
    paths = snapshot.files(f"{issues_record.FOLDER}{issue.id}/")
    if not paths:
        return [f"author {file(issue.author or NOBODY)}"]
    return [clone for path in paths for clone in budget.writers(path)]


def _started(
    ctx: Context, snapshot: Snapshot, workflow: Workflow, issue: Issue, later: int
) -> Message:
    """The message that starts a workflow; `later` others are sent before it."""
    author = issue.author or NOBODY
    by = Actor(author, is_person=author not in snapshot.agents())
    at, clock, clone = service.when(ctx, snapshot)
    return Message(
        _identity(workflow, issue), by, (f"@workflow.{workflow.name}",),
        one_line(issue.title, record.SUBJECT_LIMIT), at, clock + later, clone,
        issue=issue.number, workflow=workflow.name,
    )  # fmt: skip


def _of_main(ws: Workspace, key: str) -> Iterable[Workflow]:
    """The workflows on main that may have a field in their front matter. Most have none, so that
    nothing is parsed."""
    if not any(f"\n{key}:" in text for text in files.of_main(ws).values()):
        return ()
    return [workflow for workflow in files.known(ws).workflows.values() if not workflow.is_shipped]
