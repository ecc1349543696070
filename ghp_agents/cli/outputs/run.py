"""Runs, as JSON."""

from typing import TypedDict


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
