"""An agent that was told to stop has stopped when its turn ends, and may start again."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.handoffs import stop_agent
from ghp_agents.presence import stopping
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


def status(app: App) -> tuple[object, object]:
    fields = app.ws.presence(WORKER) or {}
    return fields["status"], fields["epoch"]


def settled(app: App) -> list[AgentName]:
    return stopping.settle(app, app.store.snapshot(), [WORKER])


def test_one_that_works_stops_when_it_rests(app: App) -> None:
    assert not stop_agent.stop(app, WORKER).has_stopped
    assert (settled(app), status(app)) == ([], ("testing", 1))
    heartbeat(app.ws, app.store, WORKER, {"status": "waiting"})
    assert (settled(app), status(app)) == ([WORKER], ("stopped", 1))


def test_one_that_rests_has_stopped_at_once(app: App) -> None:
    heartbeat(app.ws, app.store, WORKER, {"status": "idle"})
    assert stop_agent.stop(app, WORKER).has_stopped
    assert status(app) == ("stopped", 1)


def test_one_without_an_order_is_left_alone(app: App) -> None:
    heartbeat(app.ws, app.store, WORKER, {"status": "waiting"})
    assert (settled(app), status(app)) == ([], ("waiting", 1))


def test_one_that_stopped_and_starts_again_is_free(app: App) -> None:
    heartbeat(app.ws, app.store, WORKER, {"status": "idle"})
    stop_agent.stop(app, WORKER)
    assert [*stopping.in_force(app, app.store.snapshot())] == [WORKER]
    heartbeat(app.ws, app.store, WORKER, {"status": "planning"})
    assert (stopping.in_force(app, app.store.snapshot()), status(app)) == ({}, ("planning", 2))
