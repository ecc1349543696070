"""Waiting visibly: an agent says what for, and is afterwards what it was before."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.presence import wait as pause
from ghp_agents.presence.service import heartbeat, register
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.state import MemoryRemote, MemoryStore

WORKER = AgentName("worker-1")


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, {}, ManualClock())


@pytest.fixture
def store(ws: Workspace) -> MemoryStore:
    return MemoryStore(ws.clock)


def shown(ws: Workspace) -> tuple[object, object]:
    presence = ws.presence(WORKER) or {}
    return presence.get("status"), presence.get("lastAction")


def test_who_waits_says_so_and_goes_back(ws: Workspace, store: MemoryStore) -> None:
    register(ws, store, WORKER, {"status": "testing", "lastAction": "Runs tests"})
    with pause.presence(ws, WORKER, "blocked", "Waits") as beat:
        beat("Waits for\x1b src/")
        assert shown(ws) == ("blocked", "Waits for src/")
    assert shown(ws) == ("testing", "Runs tests")


def test_what_the_agent_said_meanwhile_stays(ws: Workspace, store: MemoryStore) -> None:
    register(ws, store, WORKER)
    with pause.presence(ws, WORKER, "blocked", "Waits") as beat:
        beat("Waits")
        ws.clock.wait(60)
        heartbeat(ws, store, WORKER, {"status": "reviewing", "lastAction": "Reads"})
    assert shown(ws) == ("reviewing", "Reads")


@pytest.mark.parametrize("agent", [None, WORKER])
def test_who_keeps_no_presence_keeps_none_now(ws: Workspace, agent: AgentName | None) -> None:
    with pause.presence(ws, agent, "blocked", "Waits") as beat:
        beat("Waits")
    assert ws.presence(WORKER) is None


def test_without_a_remote_there_is_nothing_to_hear(ws: Workspace, store: MemoryStore) -> None:
    now = ws.clock.now()
    assert pause.sync(make_context(ws, store), first=True) == now + 15.0


def test_news_that_another_process_just_fetched_are_not_fetched_again(ws: Workspace) -> None:
    store = MemoryStore(ws.clock, "here", MemoryRemote())
    began = ws.clock.now()
    assert pause.sync(make_context(ws, store), first=True) == began + 15.0
    ws.clock.wait(5)
    assert pause.sync(make_context(ws, store), first=False) == began + 15.0
    assert store.sync_status().news_at == began
