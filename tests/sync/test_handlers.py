"""Handlers of plug-ins hear each new event once; one that hangs or fails is logged."""

import asyncio
import os
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.hotpath import error_log
from ghp_agents.parts.plugin import Loaded, Plugin
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.record import Record
from ghp_agents.sync import handlers
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.state import MemoryStore

BY = Actor("worker-1")


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, os.environ, ManualClock(), "worker-1")


def write(store: MemoryStore, event: str, number: int) -> None:
    at = Timestamp("2026-01-02T03:04:05Z")
    record = Record(event, BY, f"{number}", f"{number}" * 12, at, store.snapshot().clock + 1, ())
    store.commit([record], expected=store.snapshot().revision)


def test_each_new_event_is_heard_once_and_a_handler_that_hangs_or_fails_is_logged(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin, heard = Plugin(), list[str]()

    @plugin.on("issue-*")
    async def hears(event: LedgerEntry) -> None:
        heard.append(event.event)

    @plugin.on("issue-close", seconds=0.01)
    async def hangs(event: LedgerEntry) -> None:
        await asyncio.Event().wait()

    @plugin.on("issue-new")
    async def fails(event: LedgerEntry) -> None:
        raise ValueError(event.object)

    monkeypatch.setattr(handlers, "load", lambda names: Loaded({"mine": plugin}, {}))
    store = MemoryStore(ManualClock())
    ctx = make_context(ws, store)
    write(store, "issue-new", 1)
    handlers.hand_out(ctx)
    assert heard == [], "what happened before is not new"
    for number, event in enumerate(("issue-new", "claim", "issue-close"), start=2):
        write(store, event, number)
    handlers.hand_out(ctx)
    handlers.hand_out(ctx)
    assert heard == ["issue-new", "issue-close"]
    (late, wrong) = sorted(text for _, _, text in error_log.read(ws.folders))
    assert "TimeoutError" in late
    assert "ValueError: 2" in wrong
