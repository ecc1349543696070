"""What a sweep sees, and what it costs to look: nothing is asked for one thing at a time."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.sweep import facts as sweep_sight
from ghp_agents.sweep.service import SweepResult, sweep
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.git import git
from tests.support.sweeps import STALE, kinds
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore

ANN = Actor("Ann", is_person=True)
AGENTS, ISSUES = 50, 1_000


class Counted:
    """A part that counts what is asked of it."""

    def __init__(self, part: object, counter: Counter[str]) -> None:
        self._part = part
        self._counter = counter

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if callable(value):
            self._counter[f"{type(self._part).__name__}.{name}"] += 1
        return value


class Crowd:
    """Many agents in another clone, each with an issue, and many issues more."""

    def __init__(self, repo: Path) -> None:
        self.clock, self.hub, self.board = ManualClock(), MemoryRemote(), Board()
        git(repo, "config", "user.name", "Ann Example")
        self.ws = open_workspace(repo, dict(os.environ), self.clock)
        self.store = MemoryStore(self.clock, "here", self.hub)
        self.there = MemoryStore(self.clock, "there", self.hub)
        self.locks = MemoryLocks(self.clock, self.board)
        self.tracker = MemoryTracker(self.clock)
        for number in range(1, ISSUES + 1):
            self.tracker.create(IssueChange(title=f"Issue {number}"), ANN)
        for number in range(1, AGENTS + 1):
            self.locks.acquire(f"issue/{number}", f"worker-{number}", expected=None, epoch=1)
        self.beat(1)

    def beat(self, seq: int, first: int = 1) -> None:
        for number in range(first, AGENTS + 1):
            fields = {"epoch": 1, "seq": seq, "issue": number, "generation": 1, "status": "testing"}
            self.there.beat(f"worker-{number}", fields)
        self.there.sync()

    def sweep(self, **how: Any) -> tuple[SweepResult, Counter[str]]:
        counter = Counter[str]()
        parts: list[Any] = [
            Counted(part, counter) for part in (self.store, self.locks, self.tracker)
        ]
        return sweep(make_context(self.ws, *parts), **how), counter


@pytest.fixture
def crowd(repo: Path) -> Crowd:
    return Crowd(repo)


def network(counter: Counter[str]) -> dict[str, int]:
    """What asks the remote or GitHub; all else is known here."""
    exchanges = ("sync", "publish", "absorb", "read", "list", "history", "acquire", "release")
    asks = (*exchanges, "get", "change", "comment", "create")
    return {name: count for name, count in counter.items() if name.partition(".")[2] in asks}


def test_of_a_thousand_issues_and_fifty_agents_nothing_is_asked_one_by_one(crowd: Crowd) -> None:
    crowd.sweep()
    crowd.clock.wait(60)
    crowd.beat(2)
    swept, counter = crowd.sweep()
    assert kinds(swept) == []
    assert dict(swept.agents) == {"active": AGENTS}
    requests = network(counter)
    lists = requests.pop("MemoryTracker.list")
    assert lists <= 4, "the tracker answers these from one conditional request"
    assert requests == {
        "MemoryStore.sync": 2,
        "MemoryStore.publish": 1,
        "MemoryLocks.acquire": 1,
        "MemoryLocks.release": 1,
    }
    assert counter["MemoryStore.ledger"] == 0


@pytest.mark.slow
def test_only_what_is_to_be_done_is_written(crowd: Crowd) -> None:
    crowd.sweep()
    for seq in (2, 3):
        crowd.clock.wait(STALE / 2)
        crowd.beat(seq, first=4)
    swept, counter = crowd.sweep()
    assert kinds(swept) == [("Warn", True)] * 3
    requests = network(counter)
    assert (requests["MemoryTracker.comment"], requests["MemoryTracker.change"]) == (3, 3)
    again, counter = crowd.sweep()
    assert kinds(again) == []
    assert {"MemoryTracker.comment", "MemoryTracker.change"}.isdisjoint(counter)


def test_an_attempt_counts_until_a_person_has_said_how_to_go_on(crowd: Crowd) -> None:
    ctx = make_context(crowd.ws, crowd.store, crowd.locks, crowd.tracker)
    facts = sweep_sight.gather(LeaseWorld(ctx))
    assert (len(facts.issues), len(facts.claims), facts.attempts) == (ISSUES, AGENTS, {})
    assert facts.workers == ()
    crowd.store.sync()
    assert len(sweep_sight.gather(LeaseWorld(ctx)).workers) == AGENTS


def test_a_dry_run_says_it_and_writes_nothing(crowd: Crowd) -> None:
    crowd.sweep()
    for seq in (2, 3):
        crowd.clock.wait(STALE / 2)
        crowd.beat(seq, first=4)
    before = dict(crowd.hub.histories)
    swept, counter = crowd.sweep(dry_run=True)
    assert kinds(swept) == [("Warn", False)] * 3
    writes = ("acquire", "release", "change", "comment", "create", "commit", "absorb", "publish")
    assert [name for name in counter if name.partition(".")[2] in writes] == []
    assert crowd.hub.histories == before
