"""Start workflows, see where they stand, and do their next steps."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation, Question, option_number
from ghp_agents.hotpath import news_flag
from ghp_agents.issues.epics import own_parts
from ghp_agents.messages import claim as claims
from ghp_agents.messages import mailbox, record, service, texts
from ghp_agents.messages import message as rules
from ghp_agents.messages import vote as votes
from ghp_agents.messages.message import NOTE, PROPOSAL, Letter, Message
from ghp_agents.messages.service import Draft, SendResult
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state.cause import WORKFLOW
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workflows import engine, files, prompt
from ghp_agents.workflows.engine import CLOSED, OPEN, PASSED, Action, StepFacts, StepState
from ghp_agents.workflows.files import KnownWorkflows
from ghp_agents.workflows.workflow import (
    APPROVAL,
    AUTHOR,
    CHECKS,
    PARTS,
    STARTER,
    VOTE,
    Workflow,
    WorkflowStep,
)

APPROVE, REFUSE = "approve", "refuse"
ISSUES = "issue/"  # before the number, in the names of claims
NOBODY = "workflow"  # who asks a person, if no agent has a part in it yet


class WorkflowRun(NamedTuple):
    """A workflow that was started, and how far it is. Without its file, it has no steps."""

    start: Message
    workflow: Workflow | None
    states: tuple[StepState, ...] = ()
    facts: Mapping[str, StepFacts] = {}

    @property
    def standing(self) -> str:
        """One of RUNNING, COMPLETED, STUCK."""
        return engine.standing(self.states) if self.workflow else engine.STUCK


def start(
    ctx: Context, name: str, subject: str, body: str, agent: str, issue: str | int | None
) -> tuple[SendResult, list[str]]:
    """Start a workflow by a message, and do what comes first; also returns notes. `agent` does the
    first step, if it is named.

    Raises NotFoundError for an unknown workflow or issue, UsageError, and as `service.send`.
    """
    files.find(files.known(ctx.ws), name)
    if not subject and issue is not None:
        subject = ctx.tracker.get(issue).title
    if not subject:
        raise UsageError(
            "Say what it is about.", hint=f"Example: `ghp agent-run {name} 'How wide is a tab?'`."
        )
    draft = Draft(
        [f"@workflow.{name}"], one_line(subject, record.SUBJECT_LIMIT), body, NOTE, issue=issue,
        or_agent=agent, workflow=name,
    )  # fmt: skip
    result = service.send(ctx, draft)
    return result, advance(ctx)


def runs(ctx: Context, snapshot: Snapshot) -> list[WorkflowRun]:
    """The workflows that were started, oldest first. Raises GhpError."""
    return _Reader(ctx, snapshot).runs()


def advance(ctx: Context) -> list[str]:
    """Do the next steps of all workflows that were started; return notes.

    Any clone may, and several at once: what a step sends has an id that follows from the step.
    """
    notes: list[str] = []
    for run in runs(ctx, ctx.store.snapshot()):
        for action in engine.actions(run.states, run.facts):
            notes += _act(ctx, run, action)
    return notes


class _Reader:
    """Reads what is known of all workflows; each part of the state once, when it is needed."""

    def __init__(self, ctx: Context, snapshot: Snapshot) -> None:
        self._ctx, self._snapshot = ctx, snapshot
        self._now = ctx.ws.clock.now()

    def runs(self) -> list[WorkflowRun]:
        messages = mailbox.of_workflows(self._ctx.ws, self._snapshot)
        if not messages:
            return []
        letters = rules.letters(messages, self._ctx.ws.settings.orchestrators)
        by_id = {x.message.id: x for x in claims.believed(self._ctx, letters)}
        known = files.known(self._ctx.ws)
        starts = [x for x in by_id.values() if x.message.workflow and not x.message.step]
        return [self._run(each, by_id, known) for each in starts]

    def _run(
        self, start: Letter, by_id: Mapping[str, Letter], known: KnownWorkflows
    ) -> WorkflowRun:
        workflow = known.workflows.get(start.message.workflow)
        if workflow is None:
            return WorkflowRun(start.message, None)
        facts: dict[str, StepFacts] = {}
        for step in workflow.steps:
            own = by_id.get(engine.identity(start.message.id, step.name))
            if own is None and step is workflow.steps[0] and _asks_itself(start.message, step):
                own = start
            consulted = self._question(start.message, step, engine.SENDS)
            gate = self._gate(start.message, step, by_id)
            facts[step.name] = StepFacts(own, consulted, gate=gate)
        return WorkflowRun(start.message, workflow, engine.look(workflow, facts), facts)

    def _gate(self, start: Message, step: WorkflowStep, by_id: Mapping[str, Letter]) -> str:
        if step.gate == VOTE:
            letter = by_id.get(engine.identity(start.id, step.name, engine.PROPOSES))
            outcome = votes.ballot(letter, self._now).outcome if letter else ""
            return {"": "", votes.OPEN: OPEN, votes.ACCEPTED: PASSED}.get(outcome, CLOSED)
        if step.gate == APPROVAL:
            question = self._question(start, step, engine.ASKS)
            if question is None or question.is_open:
                return OPEN if question else ""
            is_yes = option_number(question.question, question.answers[-1].text) == 0
            return PASSED if is_yes else CLOSED
        if step.gate == PARTS:
            return self._parts(start)
        return self._checks(start) if step.gate == CHECKS else ""

    def _question(self, start: Message, step: WorkflowStep, what: str) -> Escalation | None:
        return self._questions.get((start.id, step.name, what))

    @cached_property
    def _questions(self) -> Mapping[tuple[str, ...], Escalation]:
        found, _ = escalation.read_all(self._snapshot, self._ctx.ws.settings.orchestrators)
        return {x.question.about: x for x in reversed(found) if x.question.kind == WORKFLOW}

    def _parts(self, start: Message) -> str:
        """Whether the start's issue has parts, and all are closed."""
        issues = self._ctx.tracker.known(closed=True)
        epic = next((each for each in issues if start.issue in each.numbers), None)
        states = {each.state for each in own_parts(epic, issues)} if epic else set()
        return PASSED if states == {"closed"} else OPEN

    def _checks(self, start: Message) -> str:
        """Whether the checks of the issue's pull request are green, or it is merged already."""
        pulls = [x for x in self._ctx.forge.list(closed=True) if x.issue == start.issue]
        if not pulls or start.issue is None or pulls[-1].state == "merged":
            return PASSED if pulls and start.issue is not None else OPEN
        if pulls[-1].state == "closed":
            return CLOSED
        is_green = self._ctx.forge.checks(pulls[-1]).state == "success"
        return PASSED if is_green else OPEN


def _asks_itself(start: Message, step: WorkflowStep) -> bool:
    """Whether the event is what the first step would ask for."""
    return start.wants_work and start.kind == step.kind


def _act(ctx: Context, run: WorkflowRun, action: Action) -> list[str]:
    step, start = action.step, run.start
    to = _recipient(ctx, run, action)
    if action.what == engine.ASKS or to is None:
        result = escalation.ask_once(ctx, _asked(ctx, run, action))
        title = f"Asked {result.escalation.name}: {result.escalation.title}"
        return [*([title] if result.is_new else []), *result.notes]
    sent = _send(ctx, run, action, to)
    what = f"{sent.name} «{step.title}» to {to}" if sent else ""
    return [f"Workflow {start.name}: sent {what}."] if sent else []


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
    letters = {name: each.letter for name, each in run.facts.items()}
    whole = {name: mailbox.whole_letter(snapshot, x) for name, x in letters.items() if x}
    answers = {name: x.question for name, x in run.facts.items() if x.question}
    return prompt.body(step, mailbox.whole(snapshot, run.start), whole, answers)


def _send(ctx: Context, run: WorkflowRun, action: Action, to: str) -> Message | None:
    """Send the message of a step, once for all clones; None if it was sent already."""
    start, step, proposes = run.start, action.step, action.what == engine.PROPOSES
    identity = engine.identity(start.id, step.name, action.what)

    def decide(snapshot: Snapshot) -> tuple[Message | None, list[Record]]:
        if record.path_of(identity) in snapshot.files(record.folder_of(identity)):
            return None, []
        message = Message(
            identity, start.by, (to,), one_line(f"{step.title}: {start.subject}", 200),
            *service.when(ctx, snapshot), body=_body(snapshot, run, step)[: texts.BODY_LIMIT],
            kind=PROPOSAL if proposes else step.kind, about=start.id, issue=start.issue,
            done_within=step.within or (rules.VOTE_LASTS if proposes else 0),
            workflow=start.workflow, step=step.name,
        )  # fmt: skip
        return message, [service.sent_record(message)]

    message = transact(ctx.store, decide)
    if message:
        for agent in presence.agents_here(ctx.ws):
            news_flag.set_flag(ctx.ws.folders, agent)
    return message
