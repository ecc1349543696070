"""Read where workflows stand, from messages, questions, issues and pull requests."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation, option_number
from ghp_agents.issues.body_sections import section
from ghp_agents.issues.epics import own_parts
from ghp_agents.issues.issue import Issue
from ghp_agents.messages import claim as claims
from ghp_agents.messages import mailbox, service
from ghp_agents.messages import message as rules
from ghp_agents.messages import vote as votes
from ghp_agents.messages.message import PROPOSAL, Letter, Message
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.cause import WORKFLOW
from ghp_agents.workflows import engine, files
from ghp_agents.workflows.engine import CLOSED, OPEN, PASSED, StepFacts, StepState
from ghp_agents.workflows.files import KnownWorkflows
from ghp_agents.workflows.workflow import (
    APPROVAL,
    CHECKS,
    JOB,
    PARTS,
    VOTE,
    Workflow,
    WorkflowStep,
)
from ghp_agents.world import World

HEADING = "Workflow"  # of the section of an issue that is a step


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


def runs(ctx: Context, snapshot: Snapshot, at: float | None = None) -> list[WorkflowRun]:
    """The workflows that were started, oldest first; `at`: the snapshot's time, if it is past.
    Raises GhpError."""
    return _Reader(ctx, snapshot, at).runs()


class _Reader:
    """Reads what is known of all workflows; each part of the state once, when it is needed."""

    def __init__(self, ctx: Context, snapshot: Snapshot, at: float | None) -> None:
        self._ctx, self._snapshot, self._at = ctx, snapshot, at
        self._now = ctx.ws.clock.now() if at is None else at

    def runs(self) -> list[WorkflowRun]:
        by_id = {letter.message.id: letter for letter in self._letters()}
        if not by_id:
            return []
        available = files.known(self._ctx.ws)
        starts = [x for x in by_id.values() if x.message.workflow and not x.message.step]
        return [self._run(start, by_id, available) for start in starts]

    def _letters(self) -> Sequence[Letter]:
        if self._at is not None:
            return service.past_letters(self._ctx, self._snapshot)
        messages = mailbox.of_workflows(self._ctx.ws, self._snapshot)
        letters = rules.letters(messages, self._ctx.ws.settings.orchestrators)
        return claims.believed(self._ctx, letters)

    def _run(
        self, start: Letter, by_id: Mapping[str, Letter], available: KnownWorkflows
    ) -> WorkflowRun:
        workflow = available.workflows.get(start.message.workflow)
        if workflow is None:
            return WorkflowRun(start.message, None)
        facts: dict[str, StepFacts] = {}
        for step in workflow.steps:
            own = by_id.get(engine.identity(start.message.id, step.name))
            if own is None and step is workflow.steps[0] and _asks_itself(start.message, step):
                own = start
            facts[step.name] = StepFacts(
                own, self._question(start.message, step, engine.SENDS),
                self._job(start.message, step), self._gate(start.message, step, own, by_id),
                start.message.clone == self._snapshot.clone,
            )  # fmt: skip
        return WorkflowRun(start.message, workflow, engine.look(workflow, facts), facts)

    def _gate(
        self, start: Message, step: WorkflowStep, own: Letter | None, by_id: Mapping[str, Letter]
    ) -> str:
        if step.gate == VOTE:
            letter = by_id.get(engine.identity(start.id, step.name, engine.PROPOSES))
            letter = letter or (own if own and own.message.kind == PROPOSAL else None)
            outcome = votes.ballot(letter, self._now).outcome if letter else ""
            return {"": "", votes.OPEN: OPEN, votes.ACCEPTED: PASSED}.get(outcome, CLOSED)
        if step.gate == APPROVAL:
            question = self._question(start, step, engine.ASKS)
            if question is None:
                return PASSED if self._goes_on_alone(own) else ""
            if question.is_open:
                return OPEN
            is_yes = option_number(question.question, question.answers[-1].text) == 0
            return PASSED if is_yes else CLOSED
        if step.gate == PARTS:
            return self._parts(start)
        return self._checks(start) if step.gate == CHECKS else ""

    def _goes_on_alone(self, own: Letter | None) -> bool:
        """Whether the card of the agent that did the step lets it continue without a person."""
        by = own.result.by if own and own.result else None
        card = None if by is None or by.is_person else self._ctx.ws.settings.card(by.name)
        return card is not None and card.autonomous == "true"

    def _question(self, start: Message, step: WorkflowStep, what: str) -> Escalation | None:
        return self._questions.get((start.id, step.name, what))

    @cached_property
    def _questions(self) -> Mapping[tuple[str, ...], Escalation]:
        questions = escalation.questions(World(self._ctx, self._snapshot))
        return {x.question.about: x for x in reversed(questions) if x.question.kind == WORKFLOW}

    @cached_property
    def _issues(self) -> Sequence[Issue]:
        return self._ctx.tracker.known(closed=True)

    def _job(self, start: Message, step: WorkflowStep) -> str:
        """Whether the issue of a step is there, and closed."""
        if step.kind != JOB:
            return ""
        mark = job_mark(start, step)
        states = {x.state for x in self._issues if section(x.form, HEADING).strip() == mark}
        return "" if not states else CLOSED if "closed" in states else OPEN

    def _parts(self, start: Message) -> str:
        """Whether the start's issue has parts, and all are closed."""
        epic = next((issue for issue in self._issues if start.issue in issue.numbers), None)
        states = {part.state for part in own_parts(epic, self._issues)} if epic else set()
        return PASSED if states == {"closed"} else OPEN

    def _checks(self, start: Message) -> str:
        """Whether the checks of the issue's pull request are green, or it is merged already."""
        try:
            pulls = [x for x in self._ctx.forge.list(closed=True) if x.issue == start.issue]
            if start.issue is None or not pulls:
                return OPEN
            if pulls[-1].state != "open":
                return PASSED if pulls[-1].state == "merged" else CLOSED
            state = self._ctx.forge.checks(pulls[-1]).state
        except GhpError:  # the host cannot be reached; the next sync asks again
            return OPEN
        no_host = not self._ctx.tracker.accepts_comment_commands  # then `agent-finish` checked it
        return PASSED if state == "green" or (no_host and state == "none") else OPEN


def _asks_itself(start: Message, step: WorkflowStep) -> bool:
    """Whether the event is what the first step would ask for."""
    kind = PROPOSAL if step.gate == VOTE and not step.role else step.kind
    return start.wants_work and start.kind == kind


def job_mark(start: Message, step: WorkflowStep) -> str:
    """What the section HEADING of a step's issue says, by which it is found again."""
    return f"{start.name} {step.name}"
