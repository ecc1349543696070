"""Workflows as rows and as JSON."""

from typing import TYPE_CHECKING

from ghp_agents.core.clock import age
from ghp_agents.core.ids import count, one_line
from ghp_agents.workflows import engine
from ghp_agents.workflows.engine import ENDED, StepState
from ghp_agents.workflows.progress import WorkflowRun
from ghp_agents.workflows.workflow import Workflow

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.workflow import (
        WorkflowFileJson,
        WorkflowRunJson,
        WorkflowStepJson,
    )

FILES = ("WORKFLOW", "FROM", "STARTS WITH", "STEPS", "DESCRIPTION")
RUNS = ("RUN", "WORKFLOW", "SINCE", "STEP", "WAITS FOR", "ABOUT")
STYLES = {engine.STUCK: "red", engine.COMPLETED: "green"}


def file_row(workflow: Workflow) -> tuple[str, ...]:
    """A workflow that can be started."""
    starts = [f"@{workflow.topic}"] if workflow.topic else []
    starts += [f"label {workflow.label}"] if workflow.label else []
    return (
        workflow.name, "ghp-agents" if workflow.is_shipped else "main",
        ", ".join(starts) if starts and not workflow.is_shipped else "agent-run",
        str(len(workflow.steps)), workflow.description,
    )  # fmt: skip


def run_row(run: WorkflowRun, short: str, now: float) -> tuple[str, ...]:
    """A workflow that was started: its open steps and whom they wait for."""
    start, active = run.start, _open(run)
    number = f"#{start.issue} " if start.issue else ""
    step = ", ".join(part.step.title for part in active) or _end(run)
    waits = [engine.waits_for(part, run.facts[part.step.name]) for part in active]
    return (
        f"M-{short}", start.workflow, age(start.at, now), step, ", ".join(waits),
        f"{number}{one_line(start.subject, 60)}",
    )  # fmt: skip


def _end(run: WorkflowRun) -> str:
    """How a workflow ended."""
    if run.workflow is None:
        return "failed: its file is gone"
    bad = [x for x in run.states if x.status == ENDED and not x.is_good]
    if run.standing == engine.COMPLETED or not bad:
        return run.standing
    return f"failed at {bad[-1].step.title}: {bad[-1].outcome}"


def _open(run: WorkflowRun) -> list[StepState]:
    return [x for x in run.states if x.status in (engine.ACTIVE, engine.GATED)]


def step_lines(run: WorkflowRun) -> list[str]:
    """Each step of a workflow that was started, in a line."""
    return [_step_line(run, state) for state in run.states]


def _step_line(run: WorkflowRun, state: StepState) -> str:
    facts = run.facts[state.step.name]
    sent = f" ({facts.letter.message.name})" if facts.letter else ""
    mark = {engine.ENDED: "✓" if state.is_good else "✗", engine.NOT_REACHED: "✗"}
    if state in _open(run):
        return f"▸ {state.step.title}{sent}: waits for {engine.waits_for(state, facts)}"
    return (
        f"{mark.get(state.status, '·')} {state.step.title}{sent}: {state.outcome or state.status}"
    )


def summary(runs: list[WorkflowRun]) -> str:
    """How many workflows that are not listed have ended."""
    return f"{count(len(runs), 'workflow')} completed; `--all` lists them."


def file_json(name: str, workflow: Workflow | None, problem: str) -> "WorkflowFileJson":
    """A workflow that can be started, or why not."""
    definition = workflow or Workflow(name)
    return {
        "workflow": name,
        "description": definition.description,
        "topic": definition.topic or None,
        "label": definition.label or None,
        "steps": [step.name for step in definition.steps],
        "isShipped": definition.is_shipped,
        "problem": problem or None,
    }


def run_json(run: WorkflowRun) -> "WorkflowRunJson":
    """A workflow that was started."""
    start = run.start
    return {
        "id": start.name,
        "workflow": start.workflow,
        "subject": start.subject,
        "issue": start.issue,
        "startedBy": start.by.name,
        "at": start.at,
        "state": run.standing,
        "steps": [_step_json(run, state) for state in run.states],
    }


def _step_json(run: WorkflowRun, state: StepState) -> "WorkflowStepJson":
    facts = run.facts[state.step.name]
    letter = facts.letter
    return {
        "step": state.step.name,
        "status": state.status,
        "outcome": state.outcome or None,
        "message": letter.message.name if letter else None,
        "waitsFor": engine.waits_for(state, facts) if state in _open(run) else None,
    }
