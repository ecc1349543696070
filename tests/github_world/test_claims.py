"""Claims and edits where issues are on GitHub: the right decides, GitHub shows it, and an edit asks
nobody."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.faults import Fault
from tests.support.ghp import Result, invoke
from tests.support.git import git
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, GitHub
from tests.support.hooks import SILENT, call, write

SCOPED = "### Goal\n\nIt works\n\n### Scope\n\n- src/\n"


@pytest.fixture
def clock(github: GitHub) -> ManualClock:
    github.proxy.clock = clock = ManualClock()
    return clock


class Desk:
    """A clone in which somebody's commands run."""

    def __init__(self, github: GitHub, clock: ManualClock, login: str, name: str) -> None:
        self.github, self.clock = github, clock
        self.folder = github.clone(name)
        git(self.folder, "config", "user.name", login.title())
        self.environment = github.environment(login)

    def ghp(self, words: str, agent: str = "") -> Result:
        """A command, in somebody's name."""
        environment = self.environment | ({"GHP_AGENT": agent} if agent else {})
        return invoke(words, self.folder, environment, clock=self.clock)

    def done(self, words: str, agent: str = "") -> str:
        result = self.ghp(words, agent)
        assert result.code == 0, result
        return result.out + result.err

    @property
    def house(self) -> App:
        return App(self.folder, os.environ | self.environment, clock=self.clock)

    def labels(self, number: int) -> list[str]:
        issue: dict[str, Any] = self.github.act(ADMIN, "GET", f"issues/{number}")
        return [label["name"] for label in issue["labels"]]


@pytest.fixture
def ada(github: GitHub, clock: ManualClock) -> Desk:
    return Desk(github, clock, ADMIN, "ada")


@pytest.fixture
def other(github: GitHub, clock: ManualClock) -> Desk:
    return Desk(github, clock, WORKER_1, "other")


def test_a_claim_is_shown_by_a_label_and_given_back_with_it(github: GitHub, ada: Desk) -> None:
    number = github.issue("One")
    ada.done(f"agent-claim {number}", "worker-1")
    assert ada.labels(number) == ["agent:worker-1"]
    ada.done(f"agent-claim {number}", "worker-1")
    ada.done(f"agent-release {number}", "worker-1")
    assert ada.labels(number) == []


@pytest.mark.slow
def test_a_person_who_claims_is_assigned(github: GitHub, ada: Desk, other: Desk) -> None:
    number = github.issue("One")
    ada.done(f"agent-claim {number}")
    issue = github.act(ADMIN, "GET", f"issues/{number}")
    assert [account["login"] for account in issue["assignees"]] == [ADMIN]
    assert ada.house.tracker.get(number).assignees == ("Ada",)
    assert other.house.tracker.get(number).assignees == ("@ada",)
    refused = other.ghp(f"agent-claim {number}", "worker-1")
    assert refused.code == 3
    ada.done(f"agent-claim {number}")  # it is mine, and stays so
    ada.done(f"agent-release {number}")
    assert github.act(ADMIN, "GET", f"issues/{number}")["assignees"] == []


@pytest.mark.slow
def test_a_label_of_who_may_not_assign_takes_no_work_from_anybody(
    github: GitHub, ada: Desk
) -> None:
    number = github.issue("One", WORKER_1)
    github.act("tess", "POST", f"issues/{number}/labels", {"labels": ["agent:worker-2"]})
    ada.done("agent-claim --next", "worker-1")
    assert sorted(ada.labels(number)) == ["agent:worker-1", "agent:worker-2"]
    given = github.issue("Two", OUTSIDER)
    github.act(WORKER_1, "POST", f"issues/{given}/labels", {"labels": ["agent:worker-2"]})
    assert ada.ghp(f"agent-claim {given}", "worker-3").code == 3
    ada.done(f"agent-claim {given}", "worker-2")


@pytest.mark.slow
def test_a_claim_that_github_cannot_be_told_of_is_shown_by_the_next_sync(
    github: GitHub, ada: Desk, clock: ManualClock
) -> None:
    number = github.issue("One")
    ada.done("agent-issues")
    # GitHub answers no more; the repository that decides rights is reached as before.
    github.proxy.faults = lambda request: Fault.CUT
    ada.done(f"agent-claim {number}", "worker-1")
    assert ada.labels(number) == []
    github.proxy.faults = lambda request: None
    clock.wait(3_600)
    assert f"the holder of #{number}" in ada.done("agent-sync")
    assert ada.labels(number) == ["agent:worker-1"]


@pytest.mark.slow
def test_an_edit_is_judged_by_what_the_clone_knows_and_asks_nobody(
    github: GitHub, ada: Desk, clock: ManualClock
) -> None:
    number = github.issue("One", body=SCOPED)
    ada.done(f"agent-claim {number}", "worker-1")
    ada.done("agent-issues")
    mark = len(github.proxy.exchanges)
    refused = edit(ada, "worker-2", "src/a.py")
    assert f"#{number}" in refused
    assert edit(ada, "worker-2", "docs/a.md") == ""
    github.act(ADMIN, "PATCH", f"issues/{number}", {"body": SCOPED.replace("src/", "docs/")})
    assert edit(ada, "worker-2", "src/b.py") != ""  # of that nobody here has heard
    assert github.proxy.since(mark) == []
    clock.wait(6)
    ada.done("agent-issues")
    mark = len(github.proxy.exchanges)
    assert edit(ada, "worker-2", "src/b.py") == ""
    assert edit(ada, "worker-2", "docs/b.md") != ""
    assert github.proxy.since(mark) == []


def edit(desk: Desk, agent: str, path: str) -> str:
    """What an agent is told that is about to edit a file; empty if it may."""
    event = write(Path(desk.folder, path), desk.folder, session_id=agent)
    hooked = call("claude", event, desk.folder, desk.environment | {"GHP_AGENT": agent})
    if hooked == SILENT:
        return ""
    return str(hooked.said["hookSpecificOutput"]["permissionDecisionReason"])
