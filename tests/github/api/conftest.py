"""What the tests of the door to GitHub have: a server that answers by a script, and a hub."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.github.api.repository import GitHubRepository
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.hubs import Script


@pytest.fixture
def script() -> Iterator[Script]:
    """A server on loopback; the test says what it answers."""
    server = Script()
    yield server
    server.close()


@pytest.fixture
def clock() -> ManualClock:
    """The time, set by hand."""
    return ManualClock()


@pytest.fixture
def hub(repo: Path, script: Script, clock: ManualClock) -> GitHubRepository:
    """A hub that talks to the script."""
    return hubs.hub(repo, script, clock)
