"""A clone of a repository on GitHub, whose clock is that of the server."""

import os

import pytest

from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.github import GitHub


@pytest.fixture
def context(github: GitHub) -> TrackerContext:
    github.proxy.clock = clock = ManualClock()
    app = App(github.clone("clone"), os.environ | github.environment(), clock=clock)
    assert app.hub is not None
    return TrackerContext(app.ws, app.hub, app.locks)
