"""Runs, as JSON."""

from typing import TypedDict

from ghp_agents.runs.task import TaskStep


class RunJson(TypedDict):
    """One client at work on one issue, or what came of it."""

    id: str
    agent: str
    issue: int
    runner: str
    state: str
    outcome: str
    why: str
    at: str
    tries: int
    turns: int
    cost: float
    tokens: int
    session: str
    worktree: str
    branch: str
    task: str
    refused: int  # uses of tools that its card does not allow


class TaskJson(TypedDict):
    """A background task."""

    id: str
    task: str
    state: str
    why: str
    at: str
    starter: str
    steps: list[TaskStep]
