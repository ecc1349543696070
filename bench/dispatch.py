"""Who gets which of 10,000 open issues among 100 agents, as `agent-dispatch` decides it: with room
for one issue each, and for 100. The issues have scopes, due dates, parents, blockers and required
capabilities, and 3,000 closed ones count as earlier work."""

import time

from bench.figure import Figure
from bench.place import Place
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.jobs.dispatch_plan import Limits, plan
from ghp_agents.jobs.explanation import Agent

ISSUES, AGENTS, CLOSED = 10_000, 100, 3_000
CAN = ("gpu", "rust", "docs", "web")
BOUND_S = 1.0


def measure(place: Place) -> list[Figure]:
    """The processor time of the decision; reading the issues is not counted."""
    issues = 200 if place.quick else ISSUES
    figures: list[Figure] = []
    for most in (1, issues // AGENTS):
        board = Board([_issue(n) for n in range(1, issues + 1)], done=_done)
        before = time.process_time()
        given = len(plan(board, _agents(), {}, Limits(most)).assignments)
        took = time.process_time() - before
        name = f"{issues:,} issues, {AGENTS} agents, {most} each"
        figures.append(Figure("dispatch", name, took, "s", BOUND_S, note=f"{given:,} assigned"))
    return figures


def _issue(number: int) -> Issue:
    body = f"## Goal\n\nA thing.\n\n## Scope\n\n- src/a{number % 100}/b.py\n"
    return Issue(
        f"{number:08x}",
        IssueNumber(number),
        f"Issue {number}",
        f"{body}\n## Due\n\n2026-12-{number % 28 + 1:02}\n",
        labels=(f"needs:{CAN[number % 4]}",) if number % 3 == 0 else (),
        parent=IssueNumber(number % 50 + 1) if number % 2 and number > 60 else None,
        blocked_by=(IssueNumber(number - 1),) if number % 10 == 0 else (),
        priority=PRIORITIES[number % 4],
    )


def _done() -> list[Issue]:
    first = 2 * ISSUES
    return [
        _issue(n)._replace(state="closed", assignees=(f"worker-{n % AGENTS}",))
        for n in range(first, first + CLOSED)
    ]


def _agents() -> list[Agent]:
    return [
        Agent(Candidate(f"worker-{n}", 1, "", (CAN[n % 4], CAN[(n + 1) % 4])), "active")
        for n in range(AGENTS)
    ]
