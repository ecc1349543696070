"""What starts workflows besides the command: a message to a topic, and a label of an issue. Only
files on main can say so."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ghp_agents.core.ids import Actor, digest, one_line
from ghp_agents.issues.issue import Issue
from ghp_agents.messages import record, service
from ghp_agents.messages.message import Message
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workflows import files
from ghp_agents.workflows.workflow import Workflow
from ghp_agents.workspace import Workspace

LABEL = "label"
NOBODY = "nobody"  # the author of an issue without one


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


def by_labels(ctx: Context) -> list[str]:
    """Start the workflows whose labels open issues have, each once for an issue; return notes."""
    workflows = [workflow for workflow in _of_main(ctx.ws, LABEL) if workflow.label]
    issues = ctx.tracker.known() if workflows else []
    pairs = [(w, issue) for w in workflows for issue in issues if w.label in issue.labels]
    return [note for pair in pairs for note in _start(ctx, *pair)]


def _start(ctx: Context, workflow: Workflow, issue: Issue) -> list[str]:
    """Start it, with an id that follows from the issue, so that clones that do it at once make one
    message."""
    identity = digest("workflow", LABEL, workflow.name, issue.id)

    def decide(snapshot: Snapshot) -> tuple[list[str], list[Record]]:
        if record.path_of(identity) in snapshot.files(record.folder_of(identity)):
            return [], []
        author = issue.author or NOBODY
        by = Actor(author, is_person=author not in snapshot.agents())
        message = Message(
            identity, by, (f"@workflow.{workflow.name}",),
            one_line(issue.title, record.SUBJECT_LIMIT), *service.when(ctx, snapshot),
            issue=issue.number, workflow=workflow.name,
        )  # fmt: skip
        note = f"Started the workflow {workflow.name} for #{issue.number}: {message.name}."
        return [note], [service.sent_record(message)]

    return transact(ctx.store, decide)


def _of_main(ws: Workspace, key: str) -> Iterable[Workflow]:
    """The workflows on main that may have a field in their front matter. Most have none, so that
    nothing is parsed."""
    if not any(f"\n{key}:" in text for text in files.of_main(ws).values()):
        return ()
    return [workflow for workflow in files.known(ws).workflows.values() if not workflow.is_shipped]
