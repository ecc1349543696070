"""An agent begins once; after it stopped, it begins again as another life."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.presence import beginning
from ghp_agents.presence import service as presence
from tests.support.leases import Yard, make_yard

ONE = AgentName("worker-1")


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def known(yard: Yard) -> tuple[object, object]:
    fields = yard.ws(ONE).presence(ONE) or {}
    return fields.get("status"), fields.get("epoch")


def test_an_agent_begins_and_a_second_beginning_is_a_heartbeat(yard: Yard) -> None:
    ws = yard.ws(ONE)
    assert not beginning.has_begun(ws, ONE)
    beginning.begin(ws, yard.store, ONE)
    assert beginning.has_begun(ws, ONE)
    presence.heartbeat(ws, yard.store, ONE, {"status": "testing"})
    beginning.begin(ws, yard.store, ONE)
    assert known(yard) == ("testing", 1)


def test_an_agent_that_stopped_begins_another_life(yard: Yard) -> None:
    ws = yard.ws(ONE)
    beginning.begin(ws, yard.store, ONE)
    presence.heartbeat(ws, yard.store, ONE, {"status": "stopped"})
    assert not beginning.has_begun(ws, ONE)
    beginning.begin(ws, yard.store, ONE)
    assert known(yard) == ("idle", 2)
