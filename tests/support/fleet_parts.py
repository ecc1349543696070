"""The machines, agents, issues and runs of a simulated fleet."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ghp_agents.claims.decision import Board
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.runs.policy import RunLimits
from tests.support.runs import RUN

TICK = 10.0  # seconds
DEAD_AFTER = 60  # ticks without news of a clone until its agents count as dead
LIMITS = RunLimits(silence=120, time=1_200, turns=60)
CAN = ("gpu", "rust", "docs")
DISPATCH_EVERY, SWEEP_EVERY, LOOK_EVERY = 4, 15, 40  # ticks
NEVER = 10**6

PATIENCE = 20  # ticks in which an idle agent must begin what it was given


class LawError(AssertionError):
    """What must never happen has happened."""


class Size(NamedTuple):
    """How large a fleet is."""

    clones: int = 10
    agents: int = 100  # of each clone
    jobs: int = 10_000
    per_agent: int = 2
    trouble: int = 700  # ticks in which machines, supervisors, networks and clients fail


@dataclass
class Run:
    """A run: its process and its record."""

    id: int
    agent: str
    issue: int
    generation: int  # of the claim when it began
    needs: int  # ticks of work
    fails: bool  # it ends without a result
    stalls_at: int  # the age from which it prints nothing
    tries: int = 0  # failures in a row before it
    age: int = 0
    silent: int = 0
    turns: int = 0
    lives: bool = True
    has_result: bool = False
    outcome: str = ""
    ended: int = 0

    @property
    def failures(self) -> int:
        """In a row, with this run."""
        return RUN._replace(tries=self.tries, outcome=self.outcome).failures


@dataclass
class Clone:
    """A machine with one supervisor, and what it knows."""

    name: str
    capabilities: Mapping[str, tuple[str, ...]]  # of its agents, by name
    off_until: int = 0
    unsupervised_until: int = 0
    cut_off_until: int = 0
    live: dict[str, Run] = field(default_factory=dict)  # runs that are not settled, by agent
    ended: dict[str, dict[int, Run]] = field(default_factory=dict)  # the last, by agent and issue
    board: Board = field(default_factory=lambda: Board(()))
    claims: dict[int, Lock] = field(default_factory=dict)
    given: dict[str, list[Issue]] = field(default_factory=dict)  # assigned to its agents
    living: set[str] = field(default_factory=set)  # the claims of living holders
    news_at: dict[str, int] = field(default_factory=dict)  # when each clone synced last


def make_issue(chance: random.Random, number: int) -> Issue:
    """An issue as chance has it."""
    before = IssueNumber(chance.randint(max(1, number - 40), max(1, number - 1)))
    return Issue(
        f"{number:08x}",
        IssueNumber(number),
        f"Issue {number}",
        f"## Due\n\n2026-12-{chance.randint(1, 28):02}\n" if chance.random() < 0.2 else "",
        labels=(f"needs:{chance.choice(CAN)}",) if chance.random() < 0.3 else (),
        blocked_by=(before,) if before != number and chance.random() < 0.15 else (),
        priority=chance.choice(PRIORITIES),
    )


def make_clone(chance: random.Random, number: int, agents: int) -> Clone:
    """A machine with so many agents."""
    names = [f"c{number}-a{n}" for n in range(agents)]
    return Clone(f"clone-{number}", {name: _capabilities(chance) for name in names})


def _capabilities(chance: random.Random) -> tuple[str, ...]:
    if chance.random() < 0.3:
        return ()  # none declared: all
    return ("web", *(word for word in CAN if chance.random() < 0.5))
