"""Start workflows, see where they stand, and do their next steps."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.hotpath import news_flag
from ghp_agents.issues.issue import TITLE_LIMIT, IssueChange, short
from ghp_agents.messages import mailbox, record, service, texts
from ghp_agents.messages import message as rules
from ghp_agents.messages.address import CAPABILITY
from ghp_agents.messages.message import NOTE, PROPOSAL, Message
from ghp_agents.messages.service import Draft, SendResult
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state.cause import WORKFLOW
from ghp_agents.state.record import Record
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.state.transact import transact
from ghp_agents.workflows import engine, files, prompt
from ghp_agents.workflows.engine import Action
from ghp_agents.workflows.progress import HEADING, WorkflowRun, job_mark, runs
from ghp_agents.workflows.workflow import (
    AUTHOR,
    STARTER,
    WorkflowStep,
)

APPROVE, REFUSE = "approve", "refuse"
ISSUES = "issue/"  # before the number, in the names of claims
NOBODY = "workflow"  # who asks a person, if no agent has a part in it yet


def start(
    ctx: Context, name: str, subject: str, body: str, agent: str, issue: str | int | None
) -> tuple[SendResult, list[str]]:
    """Start a workflow by a message, and do what comes first; also returns notes. `agent` does the
    first step, if it is named.

    Raises NotFoundError for an unknown workflow or issue, UsageError, and as `service.send`.
    """
    files.find(ctx.ws, files.known(ctx.ws), name)
    if not subject and issue is not None:
        subject = ctx.tracker.get(issue).title
    if not subject:
        raise UsageError(
            "The workflow needs a subject.",
            hint=f"Example: `ghp agent-run {name} 'How wide is a tab?'`.",
        )
    draft = Draft(
        [f"@workflow.{name}"], one_line(subject, record.SUBJECT_LIMIT), body, NOTE, issue=issue,
        or_agent=agent, workflow=name,
    )  # fmt: skip
    result = service.send(ctx, draft)
    return result, advance(ctx)


def advance(ctx: Context, budget: SenderBudget | None = None) -> list[str]:
    """Do the next steps of all workflows that were started; return notes.

    Of what one other clone started, the first that go on by `budget` are done. Any clone may do a
    step, and several at once: what it sends has an id that follows from the step.
    """
    budget = budget or SenderBudget(ctx.store.snapshot())
    running = [x for x in runs(ctx, ctx.store.snapshot()) if x.standing == engine.RUNNING]
    running.sort(key=_has_begun, reverse=True)
    now = budget.first(
        "workflows", running, lambda run: budget.writers(record.path_of(run.start.id))
    )
    letters: list[_Due] = []
    notes: list[str] = []
    for run in now:
        for action in engine.actions(run.states, run.facts):
            to = _recipient(ctx, run, action)
            if action.what == engine.CREATES:
                notes += _create(ctx, run, action.step)
            elif action.what == engine.ASKS or to is None:
                result = escalation.ask_once(ctx, _asked(ctx, run, action))
                title = f"Asked {result.escalation.name}: {result.escalation.title}"
                notes += [*([title] if result.is_new else []), *result.notes]
            else:
                letters.append(_Due(run, action, to))
    return [*notes, *_send(ctx, letters)]


class _Due(NamedTuple):
    """A message to send for a step."""

    run: WorkflowRun
    action: Action
    to: str

    @property
    def identity(self) -> str:
        return engine.identity(self.run.start.id, self.action.step.name, self.action.what)


def _has_begun(run: WorkflowRun) -> bool:
    """Whether a step was sent or asked."""
    sent = (x.question or (x.letter and x.letter.message != run.start) for x in run.facts.values())
    return any(sent)


def _create(ctx: Context, run: WorkflowRun, step: WorkflowStep) -> list[str]:
    """Create the issue of a step. Only the clone where the workflow began does so, for a host gives
    two clones two issues."""
    parts = [_body(ctx.store.snapshot(), run, step)]
    if step.role.startswith(CAPABILITY):
        parts.append(f"## Capabilities\n\n- {step.role.removeprefix(CAPABILITY)}")
    parts.append(f"## {HEADING}\n\n{job_mark(run.start, step)}")
    title = one_line(f"{step.title}: {run.start.subject}", TITLE_LIMIT)
    wanted = IssueChange(title=title, body="\n\n".join(filter(None, parts)))
    created = ctx.tracker.create(wanted, run.start.by)
    return [f"Workflow {run.start.name}: created {short(created)} «{step.title}»."]


def _recipient(ctx: Context, run: WorkflowRun, action: Action) -> str | None:
    """To whom the message of a step goes; None: a person does the step."""
    start, step = run.start, action.step
    if action.what == engine.PROPOSES:
        return step.voters
    if start.or_agent and run.workflow and step is run.workflow.steps[0]:
        return start.or_agent
    if step.role == AUTHOR and start.issue:
        for lock in ctx.locks.known(f"{ISSUES}{start.issue}"):
            if lock.name == f"{ISSUES}{start.issue}" and lock.holder:
                return lock.holder
    if step.role in (AUTHOR, STARTER):
        return None if start.by.is_person else start.by.name
    return step.role


def _asked(ctx: Context, run: WorkflowRun, action: Action) -> Question:
    """The question to a person: whether to go on, or what a step asks for."""
    start, step = run.start, action.step
    letter = run.facts[step.name].letter
    result = letter.result if letter else None
    agents = [x.name for x in (start.by, *([result.by] if result else ())) if not x.is_person]
    options = (APPROVE, REFUSE) if action.what == engine.ASKS else ()
    first = f"{step.title}: {one_line(start.subject, 200)}"
    if action.what == engine.ASKS:
        first = f"May the workflow {start.workflow} go on after «{step.title}»?"
    text = (
        f"{first}\n\n{_body(ctx.store.snapshot(), run, step)}\n\n"
        f"`ghp agent-thread {start.name}` shows what was done."
    )
    about = (start.id, step.name, action.what)
    return Question((agents or [NOBODY])[0], text, start.issue, options, WORKFLOW, about)


def _body(snapshot: Snapshot, run: WorkflowRun, step: WorkflowStep) -> str:
    letters = {name: fact.letter for name, fact in run.facts.items()}
    whole = {name: mailbox.whole_letter(snapshot, x) for name, x in letters.items() if x}
    answers = {name: x.question for name, x in run.facts.items() if x.question}
    return prompt.body(step, mailbox.whole(snapshot, run.start), whole, answers)


def _send(ctx: Context, due: Sequence[_Due]) -> list[str]:
    """Send the messages of steps, each once for all clones; return notes."""

    def decide(snapshot: Snapshot) -> tuple[list[tuple[_Due, Message]], list[Record]]:
        new = [
            x for x in due
            if record.path_of(x.identity) not in snapshot.files(record.folder_of(x.identity))
        ]  # fmt: skip
        sent = [(x, _message(ctx, snapshot, x, later)) for later, x in enumerate(new)]
        return sent, [service.sent_record(message) for _, message in sent]

    sent = transact(ctx.store, decide) if due else []
    snapshot = ctx.store.snapshot()
    notes: list[str] = []
    for (run, action, to), message in sent:
        notes.append(
            f"Workflow {run.start.name}: sent {message.name} «{action.step.title}» to {to}."
        )
        lacking = service.unheard(ctx, snapshot, message)
        notes += lacking
        if lacking and to.startswith(CAPABILITY):
            notes.append(
                "An agent that can do it declares it: "
                f"`ghp agent-whoami --capability {to.removeprefix(CAPABILITY)}`."
            )
    for agent in presence.agents_here(ctx.ws) if sent else ():
        news_flag.set_flag(ctx.ws.folders, agent)
    return notes


def _message(ctx: Context, snapshot: Snapshot, due: _Due, later: int) -> Message:
    """The message of a step; `later` others are sent before it."""
    start, step = due.run.start, due.action.step
    at, clock, clone = service.when(ctx, snapshot)
    proposes = due.action.what == engine.PROPOSES
    return Message(
        due.identity, start.by, (due.to,), one_line(f"{step.title}: {start.subject}", 200),
        at, clock + later, clone, body=_body(snapshot, due.run, step)[: texts.BODY_LIMIT],
        kind=PROPOSAL if proposes else step.kind, about=start.id, issue=start.issue,
        done_within=step.within or (rules.VOTE_LASTS if proposes else 0),
        workflow=start.workflow, step=step.name,
    )  # fmt: skip
