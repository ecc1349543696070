"""Issues on GitHub do what every tracker does, and what only a server with other writers has to."""

import os
from pathlib import Path

import pytest

from ghp_agents.clock import ManualClock
from ghp_agents.wiring import House
from tests.contracts.issue_tracker import IssueTrackerContract, MakeTracker
from tests.support.git import git
from tests.support.github import GitHub


def clone_of(github: GitHub, name: str = "clone") -> Path:
    """A clone in which Ann works, as the contract wants it."""
    clone = github.clone(name)
    git(clone, "config", "user.name", "Ann Example")
    return clone


def house(github: GitHub, folder: Path, clock: ManualClock, login: str = "ada") -> House:
    """A clone in which somebody works through GitHub."""
    return House(folder, os.environ | github.environment(login), clock=clock)


class TestGitHubTracker(IssueTrackerContract):
    server_time = True

    @pytest.fixture
    def make(self, clock: ManualClock, github: GitHub) -> MakeTracker:
        clone = clone_of(github)
        return lambda: house(github, clone, clock).tracker


class TestGitHubTrackerOfAServerWithoutRelations(IssueTrackerContract):
    server_time = True

    @pytest.fixture
    def make(self, clock: ManualClock, github: GitHub) -> MakeTracker:
        github.features.clear()
        clone = clone_of(github)
        return lambda: house(github, clone, clock).tracker
