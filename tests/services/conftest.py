"""A team that claims issues: two agents in two clones, on real git."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.claimants import Claimant, Team

Clones = Callable[[int], list[Path]]


@pytest.fixture
def team(clones: Clones, remote: Path) -> Team:
    return Team(clones, remote)


@pytest.fixture
def one(team: Team) -> Claimant:
    """worker-1, in a clone that has an issue #1 and told the others of it."""
    one = team.join("worker-1")
    one.new("Parse files")
    one.sync()
    return one


@pytest.fixture
def two(team: Team, one: Claimant) -> Claimant:
    """worker-2, in another clone that has heard of worker-1 and the issue."""
    two = team.join("worker-2")
    two.beat()
    two.sync()
    return two
