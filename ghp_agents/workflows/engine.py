"""Where a workflow stands, and what comes next: a pure function of what happened so far.

Every clone computes it from the same messages, questions and issues. The id of what a step sends
follows from the workflow's start and the step, so two clones that act at once make one message.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import digest
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.messages.message import CLAIMED, FAILED, RESOLVED, Letter
from ghp_agents.workflows import workflow as words
from ghp_agents.workflows.workflow import APPROVAL, CHECKS, JOB, PARTS, VOTE, Workflow, WorkflowStep

WAITING, ACTIVE, GATED, ENDED = "waiting", "active", "gated", "ended"
NOT_NEEDED, NOT_REACHED = "not needed", "not reached"
RUNNING, COMPLETED, STUCK = "running", "completed", "failed"
OPEN, PASSED, CLOSED = "open", "passed", "closed"  # of a gate or a job; empty: not there yet
GOOD = (words.DONE, words.APPROVED)
SENDS, ASKS, PROPOSES, CREATES = "send", "ask", "propose", "create"


class StepFacts(NamedTuple):
    """What is known of one step: its message, its question to a person or its job, and its gate."""

    letter: Letter | None = None
    question: Escalation | None = None
    job: str = ""  # OPEN, or CLOSED
    gate: str = ""  # OPEN, PASSED, or CLOSED: refused
    holds_job: bool = True  # whether this clone may create the job


NOTHING = StepFacts()


class StepState(NamedTuple):
    """The progress of one step. `outcome` is one of OUTCOMES, or empty before its end."""

    step: WorkflowStep
    status: str
    outcome: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens in it."""
        return self.status in (ENDED, NOT_NEEDED, NOT_REACHED)

    @property
    def is_good(self) -> bool:
        """Whether the steps after it can go on."""
        return self.status == NOT_NEEDED or (self.status == ENDED and self.outcome in GOOD)


class Action(NamedTuple):
    """What to do next for a step."""

    what: str  # SENDS, ASKS, PROPOSES, CREATES
    step: WorkflowStep


def identity(start: str, step: str, what: str = SENDS) -> str:
    """The id of what a step sends: the same in every clone."""
    return digest("workflow", start, step, what)


def look(workflow: Workflow, facts: Mapping[str, StepFacts]) -> tuple[StepState, ...]:
    """How far each step is, in their order."""
    states: dict[str, StepState] = {}
    for step in workflow.steps:
        before = [states[name] for name in step.after]
        states[step.name] = _state(step, before, facts.get(step.name, NOTHING))
    return tuple(states.values())


def _state(step: WorkflowStep, before: Sequence[StepState], facts: StepFacts) -> StepState:
    if not all(state.is_over for state in before):
        return StepState(step, WAITING)
    if not _is_wanted(step, before):
        is_fine = bool(step.only_if) and all(state.is_good for state in before)
        return StepState(step, NOT_NEEDED if is_fine else NOT_REACHED)
    outcome = _outcome(step, facts)
    if not outcome:
        return StepState(step, ACTIVE)
    if not step.gate or outcome not in GOOD:
        return StepState(step, ENDED, outcome)
    if facts.gate == CLOSED:
        return StepState(step, ENDED, words.REFUSED)
    return StepState(step, ENDED, outcome) if facts.gate == PASSED else StepState(step, GATED)


def _is_wanted(step: WorkflowStep, before: Sequence[StepState]) -> bool:
    if step.only_if:
        return any(state.status == ENDED and state.outcome == step.only_if for state in before)
    return all(state.is_good for state in before)


def _outcome(step: WorkflowStep, facts: StepFacts) -> str:
    """How the work of a step ended; empty while it goes on."""
    if step.kind == JOB:
        return words.DONE if facts.job == CLOSED else ""
    if not step.role:
        return words.DONE
    if facts.letter is None:
        is_answered = facts.question and not facts.question.is_open
        return words.DONE if is_answered else ""
    state, result = facts.letter.state, facts.letter.result
    if state == FAILED:
        return words.FAILED
    if state != RESOLVED:
        return ""
    verdicts = {"approve": words.APPROVED, "request-changes": words.CHANGES}
    return verdicts.get(result.verdict if result else "", words.DONE)


def actions(states: Sequence[StepState], facts: Mapping[str, StepFacts]) -> list[Action]:
    """What to do now. Done by any clone, and done again, it changes nothing more."""
    return [x for state in states if (x := _action(state, facts.get(state.step.name, NOTHING)))]


def _action(state: StepState, facts: StepFacts) -> Action | None:
    step = state.step
    if state.status == ACTIVE:
        if step.kind == JOB:
            is_due = not facts.job and facts.holds_job
            return Action(CREATES, step) if is_due else None
        is_sent = not step.role or facts.letter or facts.question
        return None if is_sent else Action(SENDS, step)
    if state.status == GATED and not facts.gate:
        what = {APPROVAL: ASKS, VOTE: PROPOSES}.get(step.gate)
        return Action(what, step) if what else None
    return None


def standing(states: Sequence[StepState]) -> str:
    """Whether the whole runs, has completed, or has failed: it ended otherwise than was hoped, and
    no step was for that."""
    if not all(state.is_over for state in states):
        return RUNNING
    handled: Collection[str] = {
        name for state in states if state.status == ENDED and state.step.only_if
        for name in state.step.after
    }  # fmt: skip
    bad = [x for x in states if x.status == ENDED and not x.is_good and x.step.name not in handled]
    return STUCK if bad or any(x.status == NOT_REACHED for x in states) else COMPLETED


def waits_for(state: StepState, facts: StepFacts) -> str:
    """Who or what an open step waits for, in words for a list."""
    step, letter = state.step, facts.letter
    if state.status == GATED:
        return {
            APPROVAL: "a person's approval", CHECKS: "checks", PARTS: "the issue's parts",
            VOTE: f"votes of {step.voters}",
        }[step.gate]  # fmt: skip
    if step.kind == JOB:
        is_there = facts.job or facts.holds_job
        return "its issue" if is_there else "the clone where it began"
    if facts.question:
        return "a person's answer"
    if letter is None:
        return "a sync"
    holder = letter.holder or ", ".join(letter.message.to)
    return f"{holder}, who has begun" if letter.state == CLAIMED else holder
