"""An agent that must stop begins nothing; one that has stopped, or has no such order, may."""

from pathlib import Path

import pytest

from ghp_agents.claims import stopped
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.handoffs import stop_agent
from ghp_agents.presence.service import heartbeat
from ghp_agents.wiring import App
from tests.support.clock import ManualClock

WORKER = AgentName("worker-1")


@pytest.fixture
def app(repo: Path) -> App:
    """A person, who sees worker-1 at work."""
    result = App(repo, {}, clock=ManualClock())
    heartbeat(result.ws, result.store, WORKER, {"status": "testing"})
    return result


def test_one_that_must_stop_is_refused(app: App) -> None:
    stop_agent.stop(app, WORKER, reason="Wrong approach")
    with pytest.raises(RefusedError, match="told worker-1 to stop") as caught:
        stopped.refuse(app, WORKER)
    assert "«Wrong approach»" in str(caught.value)


def test_one_without_an_order_is_not(app: App) -> None:
    stopped.refuse(app, WORKER)


def test_one_that_has_stopped_may_begin_again(app: App) -> None:
    heartbeat(app.ws, app.store, WORKER, {"status": "idle"})
    assert stop_agent.stop(app, WORKER).has_stopped
    stopped.refuse(app, WORKER)
