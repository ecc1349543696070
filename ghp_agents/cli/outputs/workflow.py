"""Workflows, as JSON."""

from typing import TypedDict


class WorkflowStepJson(TypedDict):
    """A step of a workflow that was started."""

    step: str
    status: str
    outcome: str | None
    message: str | None
    waitsFor: str | None


class WorkflowRunJson(TypedDict):
    """A workflow that was started, and how far it is."""

    id: str
    workflow: str
    subject: str
    issue: int | None
    startedBy: str
    at: str
    state: str
    steps: list[WorkflowStepJson]


class WorkflowFileJson(TypedDict):
    """A workflow that can be started."""

    workflow: str
    description: str
    topic: str | None
    label: str | None
    steps: list[str]
    isShipped: bool
    problem: str | None


class WorkflowsJson(TypedDict):
    """The workflows, and those that were started."""

    workflows: list[WorkflowFileJson]
    runs: list[WorkflowRunJson]
